//! Whether a run can be the last one: one that was interrupted, or that found
//! nothing, is kept and shown by its id, and is nothing to compare with.

use model::run::{Row, Run};

/// Why a kept run is never `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotWhole {
    #[error("interrupted")]
    Partial,
    #[error("empty")]
    Empty,
}

/// Why a run is never `last`, if so.
pub fn not_whole(run: &Run) -> Option<NotWhole> {
    match (run.partial.is_some(), run.rows.iter().any(has_figure)) {
        (true, _) => Some(NotWhole::Partial),
        (false, false) => Some(NotWhole::Empty),
        (false, true) => None,
    }
}

fn has_figure(row: &Row) -> bool {
    row.figures().iter().any(|f| f.estimate.ns().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::synthetic;

    #[test]
    fn an_interrupted_run_or_one_without_a_figure_is_not_whole() {
        let whole = synthetic::run();
        let mut partial = whole.clone();
        partial.partial = Some("interrupted".into());
        let mut empty = whole.clone();
        empty.rows.retain(|row| !has_figure(row));
        assert!(!empty.rows.is_empty(), "some are not available");
        let mut rowless = whole.clone();
        rowless.rows.clear();
        for (run, expected) in [
            (whole, None),
            (partial, Some(NotWhole::Partial)),
            (empty, Some(NotWhole::Empty)),
            (rowless, Some(NotWhole::Empty)),
        ] {
            assert_eq!(not_whole(&run), expected);
        }
    }
}
