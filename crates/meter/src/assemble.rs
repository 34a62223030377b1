//! From what the workers sent back to the rows of the Run document.

use crate::cell_state::CellState;
use crate::plan::{Plan, PlannedCell};
use crate::probe::{Derive, Probe, Shape};
use crate::row_notes::{merged, missing_points};
use crate::run_context::RunContext;
use model::estimate::{self, Estimate, Typical, Verdict};
use model::estimator;
use model::plateau::{self, Stated};
use model::run::{Axis, CoreClock, CurvePoint, MapPoint, Outcome, Row};
use model::sample::Sample;

/// All rows, in catalogue order.
pub fn assemble_rows(
    catalogue: &[Probe],
    plan: &Plan,
    state: &[CellState],
    context: &RunContext,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for probe in catalogue {
        for id in probe.row_ids() {
            if let Some((row, unit, bound, reason)) =
                plan.unavailable.iter().find(|(row, ..)| *row == id)
            {
                let points = probe.published_points(row).map(|(point, _)| point);
                rows.extend([row.clone()].into_iter().chain(points).map(|id| {
                    let outcome = Outcome::Unavailable { reason: reason.clone() };
                    Row::new(id, *unit, *bound, outcome)
                }));
                continue;
            }
            let cells: Vec<(&PlannedCell, &CellState)> =
                plan.cells.iter().zip(state).filter(|(cell, _)| cell.row == id).collect();
            if !cells.is_empty() {
                rows.extend(rows_of(probe, &id, &cells, context, &plan.caches));
            }
        }
    }
    rows
}

fn rows_of(
    probe: &Probe,
    id: &str,
    cells: &[(&PlannedCell, &CellState)],
    context: &RunContext,
    caches: &[Stated],
) -> Vec<Row> {
    let measured: Vec<(&PlannedCell, &CellState)> =
        cells.iter().copied().filter(|(_, f)| f.unavailable().is_none()).collect();
    let all: Vec<String> = cells.iter().flat_map(|(_, f)| f.row_notes()).collect();
    let mut notes = merged(&all);
    let missing = if measured.is_empty() { Vec::new() } else { missing_points(cells) };
    let axes = probe.shape.axes();
    notes.extend(missing.iter().map(|missing| missing.note(&axes)));
    let row = |outcome| Row {
        notes: notes.clone(),
        missing: missing.clone(),
        ..Row::new(id, probe.unit, probe.bound, outcome)
    };
    if measured.is_empty() {
        let reason = unmeasured_reason(cells[0].1);
        let mut rows = vec![row(Outcome::Unavailable { reason })];
        rows.extend(published_points(probe, id, cells, &[], &notes));
        return rows;
    }
    let estimates: Vec<(&PlannedCell, Estimate)> =
        measured.iter().map(|(cell, state)| (*cell, context.estimate(cell, state))).collect();
    let own_bound = |cell: &PlannedCell| (cell.bound != probe.bound).then_some(cell.bound);
    match &probe.shape {
        Shape::Figure => {
            let mut estimate = estimates[0].1.clone();
            if probe.derive == Derive::CoreClock
                && let Some(clock) = &context.core_clock
            {
                estimate = of_core_clock(clock);
            }
            // A working set far beyond the caches does not follow the core.
            vec![Row { bound: estimates[0].0.bound, ..row(Outcome::Figure(estimate)) }]
        }
        Shape::Curve(axis, _) => {
            let points: Vec<CurvePoint> = estimates
                .iter()
                .map(|(cell, estimate)| CurvePoint {
                    x: cell.at[0],
                    bound: own_bound(cell),
                    estimate: estimate.clone(),
                })
                .collect();
            let mut rows = vec![row(Outcome::Curve { axis: *axis, points: points.clone() })];
            rows.extend(published_points(probe, id, cells, &estimates, &notes));
            if matches!(probe.derive, Derive::Levels(_)) && *axis == Axis::WorkingSetBytes {
                rows.extend(levels(probe, id, &measured, &points, context, caches));
            }
            rows
        }
        Shape::Map { .. } | Shape::Pairs(..) => vec![row(Outcome::Map {
            y_axis: probe.shape.axes()[0],
            x_axis: probe.shape.axes()[1],
            points: estimates
                .iter()
                .map(|(cell, estimate)| MapPoint {
                    y: cell.at[0],
                    x: cell.at[1],
                    bound: own_bound(cell),
                    estimate: estimate.clone(),
                })
                .collect(),
        })],
    }
}

/// Why a cell could not be measured, in words.
fn unmeasured_reason(state: &CellState) -> String {
    let why = state.unavailable();
    why.map(ToString::to_string).unwrap_or_default()
}

/// Rows of those points, where they were planned: with their estimates, or
/// why there is none.
fn published_points(
    probe: &Probe,
    id: &str,
    cells: &[(&PlannedCell, &CellState)],
    estimates: &[(&PlannedCell, Estimate)],
    notes: &[String],
) -> Vec<Row> {
    let row = |(point, bytes): (String, u64)| {
        let (cell, state) = cells.iter().find(|(cell, _)| cell.at == [bytes])?;
        let (outcome, notes) = match estimates.iter().find(|(cell, _)| cell.at == [bytes]) {
            Some((_, estimate)) => (Outcome::Figure(estimate.clone()), notes.to_vec()),
            None => {
                let reason = unmeasured_reason(state);
                (Outcome::Unavailable { reason }, Vec::new())
            }
        };
        Some(Row { notes, ..Row::new(point, probe.unit, cell.bound, outcome) })
    };
    probe.published_points(id).filter_map(row).collect()
}

/// The row `cpu.frequency`: every canary of the run read this clock, so the
/// run-wide figure is it.
pub(crate) fn of_core_clock(clock: &CoreClock) -> Estimate {
    Estimate::bare(
        Some(Typical {
            ns: clock.cycle_ns,
            p10_ns: clock.p10_ns,
            p90_ns: clock.p90_ns,
            samples: clock.readings,
        }),
        if clock.cycle_ns.relative_half_width() > estimate::NOISY_ABOVE {
            Verdict::Noisy
        } else {
            Verdict::Ok
        },
    )
}

/// Rows of the flat stretches of a curve, each estimated from all samples of
/// the points on it.
fn levels(
    probe: &Probe,
    id: &str,
    measured: &[(&PlannedCell, &CellState)],
    points: &[CurvePoint],
    context: &RunContext,
    caches: &[Stated],
) -> Vec<Row> {
    let curve: Vec<plateau::Point> = points
        .iter()
        .filter_map(|point| {
            // All points have the clock of this run.
            let ns = point.estimate.ns_of_run()?;
            Some(plateau::Point {
                bytes: point.x,
                ns: ns.value,
                low: ns.low,
                high: ns.high,
                two_states: point.estimate.verdict == Verdict::TwoStates,
            })
        })
        .collect();
    plateau::find_plateaus(&curve, caches)
        .into_iter()
        .filter_map(|plateau| {
            let on_it: Vec<&(&PlannedCell, &CellState)> = measured
                .iter()
                .filter(|(cell, _)| (plateau.from_bytes..=plateau.to_bytes).contains(&cell.at[0]))
                .collect();
            let (cell, state) = on_it.first()?;
            let samples: Vec<Sample> =
                on_it.iter().flat_map(|(_, f)| f.samples.iter().copied()).collect();
            let estimate = estimator::estimate(&samples, &context.of_cell(cell, state));
            let mut estimate = estimate.in_unit(&cell.unit);
            if !plateau.certain && matches!(estimate.verdict, Verdict::Ok | Verdict::Noisy) {
                estimate.verdict = Verdict::CannotTell;
                estimate.reason = plateau.reason.clone().unwrap_or_default();
            }
            let id = format!("{id}/{}", plateau.name);
            Some(Row::new(id, probe.unit, cell.bound, Outcome::Level { estimate, plateau }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell_state::VisitFailure;
    use model::machine_readings::MachineReadings;
    use model::run::{Bound, Regime};
    use model::unit::Unit;
    use std::time::Duration;

    fn planned_cell(at: &[u64]) -> PlannedCell {
        PlannedCell {
            probe: 0,
            pack: None,
            row: "my.map".into(),
            variant: String::new(),
            at: at.to_vec(),
            unit: Unit::Time,
            bound: Bound::Memory,
            regime: Regime::Stamped,
            first_worker: 0,
            workers: 1,
            visits: 1,
            samples: 1,
            follows: None,
            working_set_bytes: 0,
            last_level_canary: false,
            depends_on: None,
            on_disk: false,
            refused: None,
            extra_visits: true,
            cost: Default::default(),
            allotment: Duration::ZERO,
        }
    }

    fn without(reason: &str) -> CellState {
        CellState {
            failures: 1,
            failure: Some(VisitFailure::Work(reason.into())),
            ..CellState::default()
        }
    }

    fn map_row(cells: &[(&PlannedCell, &CellState)]) -> Row {
        let probe = Probe {
            shape: Shape::Map {
                y: (Axis::Processes, |_, _| Vec::new()),
                x: (Axis::WorkingSetBytes, |_, _| Vec::new()),
            },
            ..Probe::blank("my.map")
        };
        let context = RunContext::from_readings(&MachineReadings::default(), None, 1.0, 1.0);
        let mut rows = rows_of(&probe, "my.map", cells, &context, &[]);
        assert_eq!(rows.len(), 1);
        rows.remove(0)
    }

    #[test]
    fn missing_points_are_named_with_their_reason() {
        let state =
            [CellState::default(), without("no pipes"), without("killed: 9"), without("no pipes")];
        let cells = [[2, 0], [96, 0], [2, 65536], [96, 16384]].map(|at| planned_cell(&at));
        let pairs: Vec<_> = cells.iter().zip(&state).collect();
        let row = map_row(&pairs);
        let Outcome::Map { points, .. } = &row.outcome else {
            panic!("one point is there: {:?}", row.outcome);
        };
        assert_eq!(points.len(), 1);
        assert_eq!(
            row.notes,
            [
                "not available here at 96 x 0B, 96 x 16KiB: no pipes",
                "not available here at 2 x 64KiB: killed: 9",
            ]
        );
        let missing = [vec![vec![96, 0], vec![96, 16 << 10]], vec![vec![2, 64 << 10]]];
        let at: Vec<_> = row.missing.iter().map(|missing| &missing.at).collect();
        assert_eq!(at, missing.iter().collect::<Vec<_>>());
        // Without any point the reason is the row's own.
        let none = map_row(&pairs[1..]);
        assert!(
            matches!(&none.outcome, Outcome::Unavailable { reason } if reason == "no pipes"),
            "{:?}",
            none.outcome
        );
        assert!(none.notes.is_empty());
    }

    #[test]
    fn a_point_beyond_the_caches_says_what_it_follows() {
        let probe = Probe {
            shape: Shape::Curve(Axis::WorkingSetBytes, |_, _| Vec::new()),
            ..Probe::blank("my.curve")
        };
        let near = PlannedCell { bound: Bound::Core, ..planned_cell(&[1 << 10]) };
        let (far, state) = (planned_cell(&[1 << 30]), CellState::default());
        let context = RunContext::from_readings(&MachineReadings::default(), None, 1.0, 1.0);
        let cells = [(&near, &state), (&far, &state)];
        let row = rows_of(&probe, "my.curve", &cells, &context, &[]).remove(0);
        let bounds: Vec<Bound> = row.figures().iter().map(|figure| figure.bound).collect();
        assert_eq!(bounds, [Bound::Core, Bound::Memory]);
        assert_eq!(row.bound, Bound::Core);
    }
}
