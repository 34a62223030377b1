//! How many operations were timed, and for how long: from the samples, as
//! nothing else in a document knows it.

use model::run::{Cell, Outcome, Regime, Run};
use model::sample_columns::DamagedColumns;
use model::size;

/// Operations inside the brackets of the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedOperations {
    pub operations: u64,
    /// How long they took together, loops included, s.
    pub seconds: f64,
}

/// What was timed of a row, of a level or of one point of a curve; nothing
/// where the run holds no samples of it. Fails where a cell's columns don't fit
/// together.
pub fn counted(run: &Run, id: &str) -> Result<Option<TimedOperations>, DamagedColumns> {
    let mut sum: Option<(f64, f64)> = None;
    for cell in behind(run, id) {
        let (operations, ticks) = of_cell(cell)?;
        let (before, ticks_before) = sum.unwrap_or_default();
        sum = Some((before + operations, ticks_before + ticks));
    }
    Ok(sum.map(|(operations, ticks)| TimedOperations {
        operations: operations.round() as u64,
        seconds: ticks * run.clock.ns_per_tick * 1e-9,
    }))
}

/// The cells behind the figure of this id.
fn behind<'r>(run: &'r Run, id: &str) -> Vec<&'r Cell> {
    let split = id.rsplit_once('/');
    if let Some(Outcome::Level { plateau, .. }) = run.row(id).map(|row| &row.outcome) {
        let curve = split.map_or(id, |(curve, _)| curve);
        let on_it = |x: &u64| (plateau.from_bytes..=plateau.to_bytes).contains(x);
        let of_level = |cell: &&Cell| matches!(&cell.at[..], [x] if on_it(x));
        return run.cells.with_id(curve).filter(of_level).collect();
    }
    let point = split.and_then(|(curve, point)| Some((curve, size::parse_size(point)?)));
    let of_curve = point.map(|(curve, x)| run.cells.at_point(curve, &[x]));
    run.cells.with_id(id).chain(of_curve.into_iter().flatten()).collect()
}

/// Operations and ticks of a cell's samples.
fn of_cell(cell: &Cell) -> Result<(f64, f64), DamagedColumns> {
    let samples = cell.samples.samples()?;
    Ok(samples.iter().fold((0.0, 0.0), |(operations, ticks), s| {
        let turns = s.turns as f64 * cell.ops_per_turn;
        let first = s.first_ticks as f64;
        let (n, t) = match (cell.regime, s.second_ticks) {
            // Two stamps of one operation.
            (Regime::Stamped, _) => (turns, s.work_ticks()),
            // The U loop, and the 2U loop with twice as many.
            (_, Some(second)) => (3.0 * turns, first + second as f64),
            (_, None) => (turns, first),
        };
        (operations + n, ticks + t)
    }))
}
