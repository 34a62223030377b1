//! The rows of a stored run, judged anew.

use crate::assemble;
use crate::cell_state::{CellState, VisitFailure};
use crate::plan::{PlanError, PlannedCell, Request, plan};
use crate::probe::Probe;
use crate::run_context::RunContext;
use model::estimate::{Estimate, Verdict};
use model::gate::Learned;
use model::machine_readings::MachineReadings;
use model::run::{Outcome, Row, Run};
use model::sample_columns::DamagedColumns;
use std::collections::BTreeSet;

/// Why a stored run can't be judged anew.
#[derive(thiserror::Error, Debug)]
pub enum RejudgeError {
    /// It can't be planned again.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Its samples don't fit together.
    #[error(transparent)]
    Samples(#[from] DamagedColumns),
}

/// The rows of a stored run again, judged anew from its samples. What its
/// visits said in addition to the samples (failures, whether U and 2U are alike)
/// is not in a document: a row that the run found invalid stays so.
///
/// # Errors
/// Where the run can't be planned again, or a cell is damaged.
pub fn again(catalogue: &[Probe], run: &Run) -> Result<Vec<Row>, RejudgeError> {
    let known: BTreeSet<String> = catalogue.iter().flat_map(Probe::row_ids).collect();
    let rows = run.rows.iter().map(|row| row.id.clone());
    let request = Request {
        scale: run.plan.scale,
        rows: rows.filter(|id| known.contains(id)).collect(),
        seed: run.plan.seed,
        ..Request::default()
    };
    let plan = plan(catalogue, &request, &run.machine)?;
    let states = plan.cells.iter().map(|cell| stored(cell, run));
    let states: Vec<CellState> = states.collect::<Result<_, _>>()?;
    let kept_quiet_ratio = run.gate.quiet_ratio;
    let mut context = RunContext::from_readings(
        &MachineReadings::from_samples(states.iter().flat_map(|state| &state.samples)),
        kept_quiet_ratio.filter(|_| run.gate.learned == Learned::FromKeptRuns),
        run.clock.ns_per_tick,
        run.clock.resolution_ns.unwrap_or(run.clock.ns_per_tick),
    )
    .with_clock_movement(run.core_clock.as_ref().and_then(|clock| clock.between_runs));
    context.gate = context.gate.confirmed_by(multiply_cycles(run));
    let mut rows = assemble::assemble_rows(catalogue, &plan, &states, &context);
    for row in &mut rows {
        if let Some(stored) = run.row(&row.id) {
            keep_invalid(&mut row.outcome, &stored.outcome);
        }
    }
    Ok(rows)
}

/// The row of dependent multiplications, which older documents have instead of
/// a reading in each visit.
pub const MULTIPLY_ROW: &str = "cpu.mul_i64";

fn multiply_cycles(run: &Run) -> Option<f64> {
    let quiet = run.row(MULTIPLY_ROW)?.estimate()?.quiet?;
    quiet.cycles.map(|cycles| cycles.value)
}

fn keep_invalid(anew: &mut Outcome, stored: &Outcome) {
    let keep = |anew: &mut Estimate, stored: &Estimate| {
        if stored.verdict == Verdict::Invalid && anew.verdict != Verdict::Invalid {
            anew.invalidate(stored.reason.clone());
        }
    };
    match (anew, stored) {
        (
            Outcome::Figure(anew) | Outcome::Level { estimate: anew, .. },
            Outcome::Figure(stored) | Outcome::Level { estimate: stored, .. },
        ) => keep(anew, stored),
        (Outcome::Curve { points: anew, .. }, Outcome::Curve { points: stored, .. }) => {
            for point in anew {
                let same = stored.iter().find(|s| s.x == point.x);
                same.iter().for_each(|s| keep(&mut point.estimate, &s.estimate));
            }
        }
        (Outcome::Map { points: anew, .. }, Outcome::Map { points: stored, .. }) => {
            for point in anew {
                let same = stored.iter().find(|s| (s.y, s.x) == (point.y, point.x));
                same.iter().for_each(|s| keep(&mut point.estimate, &s.estimate));
            }
        }
        _ => {}
    }
}

/// What a document holds of a planned cell.
fn stored(planned: &PlannedCell, run: &Run) -> Result<CellState, DamagedColumns> {
    let cell = run.cells.iter().find(|cell| cell.row == planned.row && cell.at == planned.at);
    let Some(cell) = cell else {
        return Ok(CellState::without_visits(VisitFailure::NotStored));
    };
    Ok(CellState {
        samples: cell.samples.samples()?,
        ops_per_turn: cell.ops_per_turn,
        modes: cell.modes.clone(),
        wall_ns: (cell.wall_ms * 1e6) as u64,
        ..CellState::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::of_core_clock;
    use model::run::CoreClock;

    #[test]
    fn a_row_that_the_run_found_invalid_stays_so_when_judged_again() {
        let of = |verdict, reason: &str| {
            Outcome::Figure(Estimate {
                verdict,
                reason: reason.into(),
                ..of_core_clock(&CoreClock {
                    cycle_ns: model::stats::Interval { value: 0.3, low: 0.3, high: 0.3 },
                    p10_ns: 0.3,
                    p90_ns: 0.3,
                    shortest_ns: 0.3,
                    longest_ns: 0.3,
                    readings: 1,
                    between_runs: None,
                })
            })
        };
        let again = |stored: Outcome| {
            let mut anew = of(Verdict::Ok, "");
            keep_invalid(&mut anew, &stored);
            anew
        };
        let mut failed = of(Verdict::Invalid, "3 of 4 batches failed: x");
        let kept = again(failed.clone());
        // It has no figure.
        if let Outcome::Figure(estimate) = &mut failed {
            estimate.invalidate(estimate.reason.clone());
        }
        assert_eq!(kept, failed);
        assert_eq!(again(of(Verdict::Noisy, "wide")), of(Verdict::Ok, ""));
    }
}
