//! Notes of a row: what its workers said, and which of its points are missing.

use crate::cell_state::CellState;
use crate::plan::PlannedCell;
use model::run::MissingPoints;
use std::collections::BTreeSet;

/// Remarks of several workers as one list: of those that differ only in the
/// figures after a colon the first is kept.
pub(crate) fn merged(notes: &[String]) -> Vec<String> {
    let sorted: BTreeSet<&String> = notes.iter().collect();
    let mut kept: Vec<String> = Vec::new();
    for note in sorted {
        let question = |note: &str| {
            let (subject, answer) = note.split_once(": ")?;
            let words = answer.replace(|c| matches!(c, '0'..='9' | '.' | ' ' | '<' | '>'), "");
            Some((subject.to_string(), words))
        };
        let known =
            kept.iter().any(|last| question(last).is_some() && question(last) == question(note));
        if !known {
            kept.push(note.clone());
        }
    }
    kept
}

/// Which points of a curve or map are missing, by reason.
pub(crate) fn missing_points(cells: &[(&PlannedCell, &CellState)]) -> Vec<MissingPoints> {
    let mut all: Vec<MissingPoints> = Vec::new();
    for (cell, state) in cells {
        let Some(reason) = state.unavailable().map(ToString::to_string) else {
            continue;
        };
        let at = cell.at.clone();
        match all.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.at.push(at),
            None => all.push(MissingPoints { at: vec![at], reason }),
        }
    }
    all
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
