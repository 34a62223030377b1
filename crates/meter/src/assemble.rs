//! From what the workers sent back to the rows of the Run document.

use crate::found::Found;
use crate::plan::{Plan, PlannedCell, Request, plan};
use crate::probe::{Derive, Probe, Shape};
use model::estimate::{self, Context, Estimate, Typical, Verdict};
use model::gate::{Gate, Learnt};
use model::loop_cost;
use model::plateau::{self, Stated};
use model::run::{Axis, CoreClock, CurvePoint, MapPoint, Outcome, Row, Run};
use model::sample::Sample;
use std::collections::BTreeSet;

/// What every estimate of a run shares.
pub struct Common {
    /// Thresholds.
    pub gate: Gate,
    /// The core's clock.
    pub core_clock: Option<CoreClock>,
    /// Tick, ns.
    pub ns_per_tick: f64,
    /// Smallest step, ns.
    pub resolution_ns: f64,
}

impl Common {
    /// Learns from everything that was sampled.
    pub fn learn(
        kept_quiet_ratio: Option<f64>,
        found: &[Found],
        ns_per_tick: f64,
        resolution_ns: f64,
    ) -> Common {
        let all: Vec<Sample> = found.iter().flat_map(|f| f.samples.clone()).collect();
        Common::of_samples(kept_quiet_ratio, &all, ns_per_tick, resolution_ns)
    }

    /// Learns from samples of all cells.
    pub fn of_samples(
        kept_quiet_ratio: Option<f64>,
        all: &[Sample],
        ns_per_tick: f64,
        resolution_ns: f64,
    ) -> Common {
        Common {
            gate: Gate::learn(kept_quiet_ratio, all),
            core_clock: estimate::core_clock(all),
            ns_per_tick,
            resolution_ns,
        }
    }

    fn context<'a>(&'a self, cell: &PlannedCell, found: &'a Found) -> Context<'a> {
        Context {
            gate: &self.gate,
            core_clock: self.core_clock.as_ref(),
            ns_per_tick: self.ns_per_tick,
            resolution_ns: self.resolution_ns,
            ops_per_turn: found.ops_per_turn,
            bound: cell.bound,
            regime: cell.regime,
            workers: cell.workers,
            modes: &found.modes,
        }
    }

    /// The estimate of one cell.
    pub fn estimate(&self, cell: &PlannedCell, found: &Found) -> Estimate {
        let context = self.context(cell, found);
        let mut estimate = estimate::estimate(&found.samples, &context);
        if found.loops_alike {
            loop_cost::weigh(&mut estimate, &found.samples, &context);
        }
        found.judged(estimate).in_unit(&cell.unit)
    }
}

/// The rows of a stored run again, judged anew from its samples. What its
/// visits said beside the samples (failures, whether U and 2U are alike) is not
/// in a document: a row that the run found invalid stays so.
///
/// # Errors
/// Where the run can't be planned again, or a cell is damaged.
pub fn again(catalogue: &[Probe], run: &Run) -> Result<Vec<Row>, String> {
    let request = Request {
        scale: run.plan.scale,
        rows: run.rows.iter().map(|row| row.id.clone()).collect(),
        seed: run.plan.seed,
        ..Request::default()
    };
    let known: BTreeSet<String> = catalogue.iter().flat_map(Probe::row_ids).collect();
    let request = Request {
        rows: request
            .rows
            .into_iter()
            .filter(|id| known.contains(id))
            .collect(),
        ..request
    };
    let plan = plan(catalogue, &request, &run.machine).map_err(|e| e.to_string())?;
    let found = plan.cells.iter().map(|cell| stored(cell, run));
    let found: Vec<Found> = found.collect::<Result<_, _>>()?;
    let mut common = Common::learn(
        run.gate
            .quiet_ratio
            .filter(|_| run.gate.learnt == Learnt::FromKeptRuns),
        &found,
        run.clock.ns_per_tick,
        run.clock.resolution_ns.unwrap_or(run.clock.ns_per_tick),
    );
    common.gate = common.gate.confirmed_by(multiply_cycles(run));
    let mut rows = rows(catalogue, &plan, &found, &common);
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
            anew.verdict = Verdict::Invalid;
            anew.reason.clone_from(&stored.reason);
        }
    };
    match (anew, stored) {
        (
            Outcome::Figure(anew) | Outcome::Level { estimate: anew, .. },
            Outcome::Figure(stored)
            | Outcome::Level {
                estimate: stored, ..
            },
        ) => keep(anew, stored),
        (Outcome::Curve { points: anew, .. }, Outcome::Curve { points: stored, .. }) => {
            for point in anew {
                let same = stored.iter().find(|s| s.x == point.x);
                same.iter()
                    .for_each(|s| keep(&mut point.estimate, &s.estimate));
            }
        }
        (Outcome::Map { points: anew, .. }, Outcome::Map { points: stored, .. }) => {
            for point in anew {
                let same = stored.iter().find(|s| (s.y, s.x) == (point.y, point.x));
                same.iter()
                    .for_each(|s| keep(&mut point.estimate, &s.estimate));
            }
        }
        _ => {}
    }
}

/// What a document holds of a planned cell.
fn stored(planned: &PlannedCell, run: &Run) -> Result<Found, String> {
    let cell = run
        .cells
        .iter()
        .find(|cell| cell.row == planned.row && cell.at == planned.at);
    let Some(cell) = cell else {
        return Ok(Found::refused("not in the document"));
    };
    Ok(Found {
        samples: cell.samples.samples()?,
        ops_per_turn: cell.ops_per_turn,
        modes: cell.modes.clone(),
        wall_ns: (cell.wall_ms * 1e6) as u64,
        ..Found::default()
    })
}

/// All rows, in catalogue order.
pub fn rows(catalogue: &[Probe], plan: &Plan, found: &[Found], common: &Common) -> Vec<Row> {
    let mut rows = Vec::new();
    for probe in catalogue {
        for id in probe.row_ids() {
            if let Some((row, unit, bound, reason)) =
                plan.unavailable.iter().find(|(row, ..)| *row == id)
            {
                let points = published(probe, row).map(|(point, _)| point);
                rows.extend([row.clone()].into_iter().chain(points).map(|id| Row {
                    id,
                    unit: *unit,
                    bound: *bound,
                    outcome: Outcome::Unavailable {
                        reason: reason.clone(),
                    },
                    notes: Vec::new(),
                }));
                continue;
            }
            let cells: Vec<(&PlannedCell, &Found)> = plan
                .cells
                .iter()
                .zip(found)
                .filter(|(cell, _)| cell.row == id)
                .collect();
            if !cells.is_empty() {
                rows.extend(rows_of(probe, &id, &cells, common, &plan.caches));
            }
        }
    }
    rows
}

fn rows_of(
    probe: &Probe,
    id: &str,
    cells: &[(&PlannedCell, &Found)],
    common: &Common,
    caches: &[Stated],
) -> Vec<Row> {
    let measured: Vec<(&PlannedCell, &Found)> = cells
        .iter()
        .copied()
        .filter(|(_, f)| f.unavailable().is_none())
        .collect();
    let remarks: Vec<String> = cells.iter().flat_map(|(_, f)| f.remarks()).collect();
    let mut notes = merged(
        cells
            .iter()
            .flat_map(|(_, f)| f.notes.iter())
            .chain(&remarks),
    );
    if !measured.is_empty() {
        notes.extend(missing(&probe.shape, cells));
    }
    let row = |outcome| Row {
        id: id.to_string(),
        unit: probe.unit,
        bound: probe.bound,
        outcome,
        notes: notes.clone(),
    };
    if measured.is_empty() {
        let reason = cells[0].1.unavailable().unwrap_or_default().to_string();
        let mut rows = vec![row(Outcome::Unavailable { reason })];
        rows.extend(published_points(probe, id, cells, &[], &notes));
        return rows;
    }
    let estimates: Vec<(&PlannedCell, Estimate)> = measured
        .iter()
        .map(|(cell, found)| (*cell, common.estimate(cell, found)))
        .collect();
    let own_bound = |cell: &PlannedCell| (cell.bound != probe.bound).then_some(cell.bound);
    match &probe.shape {
        Shape::Figure => {
            let mut estimate = estimates[0].1.clone();
            if probe.derive == Derive::CoreClock
                && let Some(clock) = &common.core_clock
            {
                estimate = of_core_clock(clock);
            }
            // A working set far beyond the caches does not follow the core.
            vec![Row {
                bound: estimates[0].0.bound,
                ..row(Outcome::Figure(estimate))
            }]
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
            let mut rows = vec![row(Outcome::Curve {
                axis: *axis,
                points: points.clone(),
            })];
            rows.extend(published_points(probe, id, cells, &estimates, &notes));
            if matches!(probe.derive, Derive::Levels(_)) && *axis == Axis::WorkingSetBytes {
                rows.extend(levels(probe, id, &measured, &points, common, caches));
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

/// The points of this row that were published as rows of their own.
fn published(probe: &Probe, id: &str) -> impl Iterator<Item = (String, u64)> {
    let named: &[_] = match probe.derive {
        Derive::Points(named) | Derive::Levels(named) => named,
        _ => &[],
    };
    let points = named.iter().map(|&(name, x)| (probe.point_id(name), x));
    points.filter(move |(point, _)| point.rsplit_once('/').is_some_and(|(row, _)| row == id))
}

/// Rows of those points, where they were planned: with their estimates, or
/// why there is none.
fn published_points(
    probe: &Probe,
    id: &str,
    cells: &[(&PlannedCell, &Found)],
    estimates: &[(&PlannedCell, Estimate)],
    notes: &[String],
) -> Vec<Row> {
    let row = |(point, bytes): (String, u64)| {
        let (cell, found) = cells.iter().find(|(cell, _)| cell.at == [bytes])?;
        let (outcome, notes) = match estimates.iter().find(|(cell, _)| cell.at == [bytes]) {
            Some((_, estimate)) => (Outcome::Figure(estimate.clone()), notes.to_vec()),
            None => {
                let reason = found.unavailable().unwrap_or_default().to_string();
                (Outcome::Unavailable { reason }, Vec::new())
            }
        };
        Some(Row {
            id: point,
            unit: probe.unit,
            bound: cell.bound,
            outcome,
            notes,
        })
    };
    published(probe, id).filter_map(row).collect()
}

/// Remarks of several workers as one list: of those that differ only in the
/// figures after a colon the first is kept.
fn merged<'n>(notes: impl Iterator<Item = &'n String>) -> Vec<String> {
    let sorted: BTreeSet<&String> = notes.collect();
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
        let told = kept
            .iter()
            .any(|last| question(last).is_some() && question(last) == question(note));
        if !told {
            kept.push(note.clone());
        }
    }
    kept
}

/// Which points of a curve or map are missing, and why: a remark for each
/// reason.
fn missing(shape: &Shape, cells: &[(&PlannedCell, &Found)]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (cell, found) in cells {
        let Some(reason) = found.unavailable() else {
            continue;
        };
        let point = place(shape, &cell.at);
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
fn place(shape: &Shape, at: &[u64]) -> String {
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

/// The row `cpu.frequency`: every canary of the run read this clock, so the
/// run-wide figure is it.
fn of_core_clock(clock: &CoreClock) -> Estimate {
    Estimate {
        quiet: None,
        typical: Some(Typical {
            ns: clock.cycle_ns,
            p10_ns: clock.p10_ns,
            p90_ns: clock.p90_ns,
            samples: clock.readings,
        }),
        tail: None,
        modes: Vec::new(),
        quiet_share: None,
        below_ns: None,
        verdict: if clock.cycle_ns.relative_half_width() > estimate::NOISY_ABOVE {
            Verdict::Noisy
        } else {
            Verdict::Ok
        },
        reason: String::new(),
    }
}

/// Rows of the flat stretches of a curve, each estimated from all samples of
/// the points on it.
fn levels(
    probe: &Probe,
    id: &str,
    measured: &[(&PlannedCell, &Found)],
    points: &[CurvePoint],
    common: &Common,
    caches: &[Stated],
) -> Vec<Row> {
    let curve: Vec<plateau::Point> = points
        .iter()
        .filter_map(|point| {
            let ns = point.estimate.ns()?;
            Some(plateau::Point {
                bytes: point.x,
                ns: ns.value,
                low: ns.low,
                high: ns.high,
                two_states: point.estimate.verdict == Verdict::TwoStates,
            })
        })
        .collect();
    plateau::find(&curve, caches)
        .into_iter()
        .filter_map(|plateau| {
            let on_it: Vec<&(&PlannedCell, &Found)> = measured
                .iter()
                .filter(|(cell, _)| (plateau.from_bytes..=plateau.to_bytes).contains(&cell.at[0]))
                .collect();
            let (cell, found) = on_it.first()?;
            let samples: Vec<Sample> = on_it
                .iter()
                .flat_map(|(_, f)| f.samples.iter().copied())
                .collect();
            let estimate = estimate::estimate(&samples, &common.context(cell, found));
            let mut estimate = estimate.in_unit(&cell.unit);
            if !plateau.certain && matches!(estimate.verdict, Verdict::Ok | Verdict::Noisy) {
                estimate.verdict = Verdict::CannotTell;
                estimate.reason = plateau.reason.clone().unwrap_or_default();
            }
            Some(Row {
                id: format!("{id}/{}", plateau.name),
                unit: probe.unit,
                bound: cell.bound,
                outcome: Outcome::Level { estimate, plateau },
                notes: Vec::new(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::{Bound, Regime};
    use model::unit::Unit;
    use std::time::Duration;

    fn cell(at: &[u64]) -> PlannedCell {
        PlannedCell {
            probe: 0,
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
            on_disk: false,
            refused: None,
            extra_visits: true,
            cost: Default::default(),
            allotment: Duration::ZERO,
        }
    }

    fn without(reason: &str) -> Found {
        Found {
            failed: (1, reason.into()),
            ..Found::default()
        }
    }

    fn map_row(cells: &[(&PlannedCell, &Found)]) -> Row {
        let probe = Probe {
            shape: Shape::Map {
                y: (Axis::Processes, |_, _| Vec::new()),
                x: (Axis::WorkingSetBytes, |_, _| Vec::new()),
            },
            ..Probe::blank("my.map")
        };
        let common = Common::learn(None, &[], 1.0, 1.0);
        let mut rows = rows_of(&probe, "my.map", cells, &common, &[]);
        assert_eq!(rows.len(), 1);
        rows.remove(0)
    }

    #[test]
    fn missing_points_are_named_with_their_reason() {
        let found = [
            Found::default(),
            without("no pipes"),
            without("killed: 9"),
            without("no pipes"),
        ];
        let cells = [[2, 0], [96, 0], [2, 65536], [96, 16384]].map(|at| cell(&at));
        let pairs: Vec<_> = cells.iter().zip(&found).collect();
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
        let near = PlannedCell {
            bound: Bound::Core,
            ..cell(&[1 << 10])
        };
        let (far, found) = (cell(&[1 << 30]), Found::default());
        let common = Common::learn(None, &[], 1.0, 1.0);
        let cells = [(&near, &found), (&far, &found)];
        let row = rows_of(&probe, "my.curve", &cells, &common, &[]).remove(0);
        let bounds = [vec![1 << 10], vec![1 << 30]].map(|at| row.bound_at(&at));
        assert_eq!(bounds, [Bound::Core, Bound::Memory]);
        assert_eq!(row.bound_at(&[]), Bound::Core);
    }

    #[test]
    fn a_row_that_the_run_found_invalid_stays_so_when_judged_again() {
        let of = |verdict, reason: &str| {
            Outcome::Figure(estimate::Estimate {
                verdict,
                reason: reason.into(),
                ..of_core_clock(&CoreClock {
                    cycle_ns: model::stats::Interval {
                        value: 0.3,
                        low: 0.3,
                        high: 0.3,
                    },
                    p10_ns: 0.3,
                    p90_ns: 0.3,
                    shortest_ns: 0.3,
                    longest_ns: 0.3,
                    readings: 1,
                })
            })
        };
        let again = |stored: Outcome| {
            let mut anew = of(Verdict::Ok, "");
            keep_invalid(&mut anew, &stored);
            anew
        };
        let failed = of(Verdict::Invalid, "3 of 4 visits failed: x");
        assert_eq!(again(failed.clone()), failed);
        assert_eq!(again(of(Verdict::Noisy, "wide")), of(Verdict::Ok, ""));
    }

    #[test]
    fn remarks_that_differ_in_a_figure_only_are_told_once() {
        let notes = [
            "on base pages",
            "smallest step seen: 45 ticks",
            "smallest step seen: 44 ticks",
            "load at 20 %: 3 GB/s",
            "load at 40 %: 5 GB/s",
        ]
        .map(String::from);
        assert_eq!(
            merged(notes.iter()),
            [
                "load at 20 %: 3 GB/s",
                "load at 40 %: 5 GB/s",
                "on base pages",
                "smallest step seen: 44 ticks",
            ]
        );
    }
}
