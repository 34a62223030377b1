//! Whether a run can be the last one: one that was interrupted, or that found
//! nothing, is kept and shown by its id, and is nothing to compare with.

use super::document::{MAX_DOCUMENT_BYTES, unpacked};
use model::limits::RUN;
use model::misfit;
use model::run::{Row, Run};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Why a kept run is never `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotWhole {
    /// It ended early.
    #[error("interrupted")]
    Partial,
    /// It has no figure.
    #[error("empty")]
    Empty,
}

/// Why a run is never `last`, if so.
pub fn not_whole(run: &Run) -> Option<NotWhole> {
    judged(run.partial.is_some(), run.rows.iter().any(has_figure))
}

fn judged(partial: bool, has_figure: bool) -> Option<NotWhole> {
    match (partial, has_figure) {
        (true, _) => Some(NotWhole::Partial),
        (false, false) => Some(NotWhole::Empty),
        (false, true) => None,
    }
}

fn has_figure(row: &Row) -> bool {
    row.figures().iter().any(|f| f.estimate.ns().is_some())
}

/// The same of a document's bytes. Nothing of those that are no run: that is said
/// when it is read.
pub(super) fn not_whole_in(bytes: &[u8]) -> Option<NotWhole> {
    /// What is looked at: not the samples, which are most of it.
    #[derive(Deserialize)]
    struct Head {
        partial: Option<IgnoredAny>,
        rows: Vec<Row>,
    }
    let json = unpacked(bytes, MAX_DOCUMENT_BYTES).ok()?;
    let head: Head = misfit::read_json_within(&json, &RUN).ok()?;
    judged(head.partial.is_some(), head.rows.iter().any(has_figure))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use model::synthetic;
    use std::path::Path;

    #[test]
    fn a_document_is_judged_as_its_run_is() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::in_directory(dir.path());
        let of = |path: &Path| not_whole_in(&std::fs::read(path).expect("written"));
        let whole = synthetic::run();
        let mut partial = whole.clone();
        partial.partial = Some("interrupted".into());
        let mut empty = whole.clone();
        empty.rows.retain(|row| !has_figure(row));
        assert!(!empty.rows.is_empty(), "some are not available");
        let mut rowless = whole.clone();
        rowless.rows.clear();
        for (n, (run, expected)) in [
            (whole, None),
            (partial, Some(NotWhole::Partial)),
            (empty, Some(NotWhole::Empty)),
            (rowless, Some(NotWhole::Empty)),
        ]
        .into_iter()
        .enumerate()
        {
            let mut run = run;
            run.id = format!("0000000{n}-0000-4000-8000-000000000001");
            assert_eq!(not_whole(&run), expected);
            let packed = store.save(&run).expect("saved");
            assert_eq!(of(&packed), expected);
            let plain = dir.path().join("run.json");
            crate::write(&run, &plain).expect("written");
            assert_eq!(of(&plain), expected);
        }
        let broken = dir.path().join("broken.json");
        std::fs::write(&broken, "{\"schema\":").expect("written");
        assert_eq!(of(&broken), None);
    }
}
