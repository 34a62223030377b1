//! Notes of a row: what its workers said, and which of its points are missing.

use crate::cell_state::CellState;
use crate::plan::PlannedCell;
use crate::probe::Shape;
use model::run::Axis;
use std::collections::BTreeSet;

/// Remarks of several workers as one list: of those that differ only in the
/// figures after a colon the first is kept.
pub(crate) fn merged(notes: &[String]) -> Vec<String> {
    let sorted: BTreeSet<&String> = notes.iter().collect();
    let mut kept: Vec<String> = Vec::new();
    for note in sorted {
        let question = |note: &str| {
            let (subject, answer) = note.split_once(": ")?;
            let words: String = answer
                .chars()
                .filter(|c| !c.is_ascii_digit() && *c != '.')
                .collect();
            Some((subject.to_string(), words))
        };
        let known = kept
            .iter()
            .any(|last| question(last).is_some() && question(last) == question(note));
        if !known {
            kept.push(note.clone());
        }
    }
    kept
}

/// Which points of a curve or map are missing, and why: a remark for each
/// reason.
pub(crate) fn missing(shape: &Shape, cells: &[(&PlannedCell, &CellState)]) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (cell, state) in cells {
        let Some(reason) = state.unavailable().map(ToString::to_string) else {
            continue;
        };
        let point = point_text(shape, &cell.at);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, points)) => points.push(point),
            None => reasons.push((reason, vec![point])),
        }
    }
    reasons
        .into_iter()
        .map(|(reason, points)| format!("not available here at {}: {reason}", points.join(", ")))
        .collect()
}

/// A point of a curve or map in words: `16KiB`, `96 x 16KiB`.
fn point_text(shape: &Shape, at: &[u64]) -> String {
    let parts: Vec<String> = shape
        .axes()
        .iter()
        .zip(at)
        .map(|(axis, &value)| match axis {
            Axis::WorkingSetBytes | Axis::StrideBytes | Axis::FileBytes => model::size::text(value),
            _ => value.to_string(),
        })
        .collect();
    parts.join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_that_differ_only_in_a_figure_are_printed_once() {
        let notes = [
            "on base pages",
            "smallest step seen: 45 ticks",
            "smallest step seen: 44 ticks",
            "load at 20 %: 3 GB/s",
            "load at 40 %: 5 GB/s",
        ]
        .map(String::from);
        assert_eq!(
            merged(&notes),
            [
                "load at 20 %: 3 GB/s",
                "load at 40 %: 5 GB/s",
                "on base pages",
                "smallest step seen: 44 ticks",
            ]
        );
    }
}
