//! Which figures stand opposite each other: rows, points of curves and modes,
//! by name.

use super::operand::{FigureSource, Operand};
use crate::obstacle::Obstacle;
use crate::references::Reference;
use model::compare::measure::Measure;
use model::compare::reading::{Reading, Repeats};
use model::estimate::{Estimate, Mode, SAMPLES_IN_ALL, Typical, Verdict};
use model::repeats::stretches;
use model::run::{Bound, Cell, FigureAt, Row, Run};
use model::summary::Key;
use model::unit::Unit;
use std::collections::{HashMap, HashSet};

/// The smallest share of the operations with which a mode is a figure of its
/// own, as in the verdict *two states*.
pub(super) const SHARE_OF_A_MODE: f64 = 1.0 / 6.0;

/// One run's figure.
#[derive(Clone, Debug)]
pub(super) struct RunFigure {
    /// Place of its run among those of its side or group.
    pub(super) run: usize,
    pub(super) estimate: Estimate,
    pub(super) unit: Unit,
    pub(super) bound: Bound,
    /// What the interval of its typical figure is from.
    pub(super) repeats: Repeats,
}

#[derive(Clone, Debug)]
pub(super) struct Published {
    pub(super) ns: Option<f64>,
    pub(super) mb_per_s: Option<f64>,
    /// Clock cycles, where it counts these.
    pub(super) cycles: Option<f64>,
    /// Half of the interval of what a machine's own figure is, as a logarithm.
    pub(super) error_ln: f64,
    /// Why no ratio to it would mean anything, if so.
    pub(super) no_ratio: Option<Obstacle>,
}

/// What one side has of a figure.
#[derive(Clone, Debug)]
pub(super) enum Has {
    Runs(Vec<RunFigure>),
    /// What was published.
    Published(Published),
    Nothing,
}

impl Has {
    /// The figures of its runs; none where it was published.
    pub(super) fn figures(&self) -> std::slice::Iter<'_, RunFigure> {
        match self {
            Has::Runs(figures) => figures.iter(),
            _ => [].iter(),
        }
    }

    /// What was published, if that is all there is.
    pub(super) fn published(&self) -> Option<&Published> {
        match self {
            Has::Published(published) => Some(published),
            _ => None,
        }
    }
}

impl Published {
    /// The figure as ns an operation of this unit.
    pub(super) fn ns(&self, unit: &Unit) -> Option<f64> {
        match (self.ns, self.mb_per_s, unit) {
            (Some(ns), _, _) => Some(ns),
            // 1 GB/s is one byte a ns.
            (None, Some(speed), Unit::Bandwidth { bytes_per_op }) => {
                Some(bytes_per_op / (speed / 1000.0))
            }
            _ => None,
        }
    }

    /// The figure where this is compared: cycles with cycles, and with nothing else.
    pub(super) fn measured_by(&self, unit: &Unit, measure: Option<Measure>) -> Option<f64> {
        match self.cycles {
            Some(cycles) => (measure == Some(Measure::QuietCycles)).then_some(cycles),
            None => self.ns(unit),
        }
    }

    pub(super) fn reading(&self, unit: &Unit, measure: Option<Measure>) -> Option<Reading> {
        Reading::published(self.measured_by(unit, measure)?, self.error_ln)
    }
}

/// All figures of the sides' runs, in the order in which they come; behind
/// them what only a published side has.
pub(super) fn keys(operands: &[&Operand]) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |key: Key| {
        if seen.insert(key.clone()) {
            keys.push(key);
        }
    };
    for run in operands.iter().flat_map(|operand| operand.runs()) {
        each_figure(run, |key, _, _, _| add(key));
    }
    let measured: Vec<String> = keys.iter().map(|key| key.id.clone()).collect();
    for operand in operands {
        let FigureSource::Published(table) = &operand.source else {
            continue;
        };
        // The counterpart of a row that does the same job is not left over.
        let counterpart: HashSet<&str> =
            measured.iter().filter_map(|id| Some(table.counterpart(id)?.row.id.as_str())).collect();
        for row in table.rows.iter().filter(|row| row.has_figure()) {
            let key = whole(&row.id);
            if !counterpart.contains(row.id.as_str()) && seen.insert(key.clone()) {
                keys.push(key);
            }
        }
    }
    keys
}

fn whole(id: &str) -> Key {
    Key { id: id.to_owned(), at: Vec::new(), mode: None }
}

/// What a side has of each of these figures, in the same order.
pub(super) fn of_side(operand: &Operand, keys: &[Key]) -> Vec<Has> {
    match &operand.source {
        FigureSource::Published(table) => keys.iter().map(|key| published(table, key)).collect(),
        FigureSource::Runs(runs) => of_runs(runs, keys)
            .into_iter()
            .map(|figures| match figures.is_empty() {
                true => Has::Nothing,
                false => Has::Runs(figures),
            })
            .collect(),
    }
}

/// The figures of several runs by key.
pub(super) fn of_runs(runs: &[Run], keys: &[Key]) -> Vec<Vec<RunFigure>> {
    let mut found = vec![Vec::new(); keys.len()];
    let places: HashMap<_, _> =
        keys.iter().enumerate().map(|(at, key)| ((&key.id, &key.at, &key.mode), at)).collect();
    for (place, run) in runs.iter().enumerate() {
        let mut curves = HashMap::new();
        each_figure(run, |key, row, bound, estimate| {
            if let Some(&at) = places.get(&(&key.id, &key.at, &key.mode)) {
                found[at].push(RunFigure {
                    run: place,
                    repeats: repeats(run, &key, &estimate, &mut curves),
                    estimate,
                    unit: row.unit,
                    bound,
                });
            }
        });
    }
    found
}

/// Hands out every figure of a run.
fn each_figure(run: &Run, mut each: impl FnMut(Key, &Row, Bound, Estimate)) {
    for row in &run.rows {
        for FigureAt { at, bound, estimate } in row.figures() {
            let key = Key { at, ..whole(&row.id) };
            each(key.clone(), row, bound, estimate.clone());
            for mode in large(&estimate.modes) {
                let key = Key { mode: Some(mode.name.clone()), ..key.clone() };
                each(key, row, bound, alone(&mode.typical, estimate));
            }
        }
    }
}

/// The modes that are figures of their own.
fn large(modes: &[Mode]) -> impl Iterator<Item = &Mode> {
    modes.iter().filter(|mode| {
        mode.share >= SHARE_OF_A_MODE && mode.typical.samples as usize >= SAMPLES_IN_ALL
    })
}

/// A mode as an estimate: nothing but its interval speaks for it, unless the whole
/// row is invalid.
fn alone(typical: &Typical, whole: &Estimate) -> Estimate {
    let of = |verdict| Estimate::bare(Some(*typical), verdict);
    match whole.verdict {
        Verdict::Invalid => Estimate { reason: whole.reason.clone(), ..of(Verdict::Invalid) },
        _ => of(Verdict::Ok),
    }
}

/// What the interval of a typical figure is from: the workers of its cell. An
/// imported run and a run of commands are of one process each, there its
/// samples count; those of commands as many as the stretches of time that
/// widened the interval. `curves` keeps the fewest workers of any point of a curve.
fn repeats(
    run: &Run,
    key: &Key,
    estimate: &Estimate,
    curves: &mut HashMap<String, Option<u32>>,
) -> Repeats {
    let samples = estimate.headline().map_or(0, |(typical, _)| typical.samples);
    if run.imported.is_some() {
        return Repeats::independent(samples);
    }
    if !run.is_of_rows() {
        return Repeats { values: samples, independent: stretches(samples as usize) as u32 };
    }
    let workers = |cell: &Cell| distinct(&cell.samples.workers);
    if let Some(workers) = run.cells.at_point(&key.id, &key.at).map(workers).min() {
        return Repeats::independent(workers);
    }
    // A level and a published point have no cell of their own: there the
    // curve's point with the fewest workers counts, and in a run without
    // samples the plan. As more may have given the width, it is read as if
    // all samples had.
    let curve = key.id.rsplit_once('/').map(|(curve, _)| curve);
    let workers = curve.and_then(|curve| {
        let known = curves.get(curve).copied();
        known.unwrap_or_else(|| {
            let fewest = run.cells.with_id(curve).map(workers).min();
            curves.insert(curve.to_owned(), fewest);
            fewest
        })
    });
    let planned = run.plan.workers.min(run.plan.large_workers);
    Repeats { values: samples, independent: workers.unwrap_or(planned).min(samples) }
}

fn distinct(workers: &[(u32, u32)]) -> u32 {
    let distinct: HashSet<u32> = workers.iter().map(|&(worker, _)| worker).collect();
    distinct.len() as u32
}

fn published(table: &Reference, key: &Key) -> Has {
    let Some(counterpart) = table.counterpart(&key.id) else {
        return Has::Nothing;
    };
    if !key.at.is_empty() || key.mode.is_some() {
        return Has::Nothing;
    }
    let no_ratio = match &counterpart.row.doubtful {
        Some(why) => Some(Obstacle::Doubtful(why.clone())),
        None if !counterpart.comparable() => Some(Obstacle::OtherCode),
        None => None,
    };
    Has::Published(Published {
        ns: counterpart.row.ns,
        mb_per_s: counterpart.row.mb_per_s,
        error_ln: counterpart.row.error_ln,
        cycles: counterpart.row.cycles,
        no_ratio,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::Outcome;
    use model::synthetic;

    #[test]
    fn a_worker_that_came_twice_is_one() {
        let mut run = synthetic::run();
        let cell = &mut run.cells[0];
        cell.samples.workers = vec![(0, 3), (1, 2), (0, 4)];
        let key = whole(&cell.row);
        let estimate = run.rows.iter().find_map(Row::estimate).expect("a figure");
        assert_eq!(repeats(&run, &key, estimate, &mut HashMap::new()), Repeats::independent(2));
    }

    #[test]
    fn a_level_is_of_as_many_workers_as_the_fewest_of_its_curve() {
        let mut run = synthetic::run();
        let estimate = run.row("memory.latency/L2").and_then(Row::estimate);
        let estimate = estimate.expect("a level").clone();
        let key = whole("memory.latency/L2");
        assert!(estimate.typical.expect("typical").samples > 100);
        // Without samples the plan says it: three for large working sets.
        let of = |independent| Repeats {
            values: estimate.typical.expect("typical").samples,
            independent,
        };
        assert_eq!(repeats(&run, &key, &estimate, &mut HashMap::new()), of(3));
        for (at, workers) in [(1024, 8), (1 << 20, 2)] {
            let mut cell = run.cells[0].clone();
            cell.row = "memory.latency".into();
            cell.at = vec![at];
            cell.samples.workers = (0..workers).map(|worker| (worker, 5)).collect();
            run.cells.push(cell);
        }
        assert_eq!(repeats(&run, &key, &estimate, &mut HashMap::new()), of(2));
    }

    #[test]
    fn a_mode_of_a_row_that_is_invalid_is_invalid() {
        let mut run = synthetic::run_of_commands();
        // In two states.
        let row = run.rows.iter_mut().find(|row| row.id == "exec.rg/wall");
        let Outcome::Figure(estimate) = &mut row.expect("a row").outcome else {
            panic!("a figure");
        };
        estimate.verdict = Verdict::Invalid;
        estimate.reason = "2 of 30 runs failed".into();
        let mut modes = Vec::new();
        each_figure(&run, |key, _, _, estimate| {
            if key.mode.is_some() {
                modes.push((estimate.verdict, estimate.reason));
            }
        });
        let invalid = (Verdict::Invalid, "2 of 30 runs failed".to_owned());
        assert_eq!(modes, [invalid.clone(), invalid]);
    }

    #[test]
    fn one_process_is_counted_by_its_samples_or_stretches() {
        let run = synthetic::run_of_commands();
        let row = run.row("exec.grep/wall").expect("a row");
        let estimate = row.estimate().expect("a figure");
        let found = repeats(&run, &whole(&row.id), estimate, &mut HashMap::new());
        let expected = Repeats { values: 30, independent: 8 };
        assert_eq!(found, expected);
    }
}
