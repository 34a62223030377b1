//! Every figure of a run, as the index keeps it.

use model::run::{Outcome, Row, Run};
use model::summary::KeptResult;

/// Every figure of a run: single figures, levels, points of curves and maps.
pub fn results(run: &Run) -> Vec<KeptResult> {
    run.rows.iter().flat_map(of_row).collect()
}

fn of_row(row: &Row) -> Vec<KeptResult> {
    if let Outcome::Unavailable { reason } = &row.outcome {
        return vec![KeptResult::unavailable(row, reason)];
    }
    let figures = row.figures().into_iter();
    figures.map(|f| KeptResult::from_row(row, f)).collect()
}
