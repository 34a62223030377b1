//! Points of a curve or map that can't be measured here, and why.

use crate::run::{Axis, MissingPoints, Row, Run};
use crate::size;

/// What a note of missing points begins with.
const NOTE: &str = "not available here at ";

impl MissingPoints {
    /// As a note of the row: `not available here at 1MiB, 10MiB: it does not fit`.
    pub fn note(&self, axes: &[Axis]) -> String {
        let point = |at: &Vec<u64>| {
            let parts = axes.iter().zip(at).map(|(axis, &value)| match axis {
                Axis::WorkingSetBytes | Axis::StrideBytes | Axis::FileBytes => {
                    size::format_size(value)
                }
                _ => value.to_string(),
            });
            parts.collect::<Vec<_>>().join(" x ")
        };
        let points: Vec<String> = self.at.iter().map(point).collect();
        format!("{NOTE}{}: {}", points.join(", "), self.reason)
    }

    /// What such a note says: older documents have nothing else.
    fn of_note(note: &str) -> Option<MissingPoints> {
        let (points, reason) = note.strip_prefix(NOTE)?.split_once(": ")?;
        let point = |text: &str| text.split(" x ").map(size::parse_size).collect();
        Some(MissingPoints {
            at: points.split(", ").map(point).collect::<Option<_>>()?,
            reason: reason.to_owned(),
        })
    }
}

impl Row {
    /// Why a curve lacks this point, if it can't be measured here.
    pub fn missing_at(&self, x: u64) -> Option<&str> {
        let lacks = |missing: &&MissingPoints| missing.at.iter().any(|at| at[..] == [x]);
        Some(&self.missing.iter().find(lacks)?.reason)
    }
}

/// Completes a run that was read: in older documents only notes say which
/// points are missing.
pub(crate) fn complete(run: &mut Run) {
    for row in run.rows.iter_mut().filter(|row| row.missing.is_empty()) {
        let notes = row.notes.iter();
        row.missing = notes.filter_map(|n| MissingPoints::of_note(n)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn notes_of_older_documents_say_which_points_are_missing() {
        let axes = [Axis::Processes, Axis::WorkingSetBytes];
        let missing =
            MissingPoints { at: vec![vec![96, 0], vec![96, 16 << 10]], reason: "killed: 9".into() };
        let note = missing.note(&axes);
        assert_eq!(note, "not available here at 96 x 0B, 96 x 16KiB: killed: 9");
        let mut run = synthetic::run();
        run.rows[0].notes = vec![
            "Served by the page cache.".into(),
            note,
            "not available here at 512KiB, 1MiB: 120 MiB are free".into(),
            "not available here at night: too dark".into(),
        ];
        complete(&mut run);
        let row = &run.rows[0];
        assert_eq!(row.missing.len(), 2);
        assert_eq!(row.missing[0], missing);
        assert_eq!(row.missing_at(1 << 20), Some("120 MiB are free"));
        assert_eq!(row.missing_at(96), None, "of a map");
        // What a document says itself is not looked for in its notes.
        run.rows[0].notes.pop();
        run.rows[0].missing.truncate(1);
        complete(&mut run);
        assert_eq!(run.rows[0].missing, [missing]);
    }
}
