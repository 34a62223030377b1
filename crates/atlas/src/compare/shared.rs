//! Which figures stand opposite each other: rows, points of curves and modes,
//! by name.

use super::operand::{Operand, Source};
use crate::references::Reference;
use model::distribution::{Mode, Typical};
use model::estimate::{Estimate, SAMPLES_IN_ALL, Verdict};
use model::run::{Bound, Outcome, Row, Run};
use model::unit::Unit;

/// The smallest share of the operations with which a mode is a figure of its
/// own, as in the verdict *two states*.
pub(super) const SHARE_OF_A_MODE: f64 = 1.0 / 6.0;

/// What one figure is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The row.
    pub(super) id: String,
    /// The point on its curve or map; empty for a single figure.
    pub(super) at: Vec<u64>,
    /// The mode, where the row ran in several.
    pub(super) mode: Option<String>,
}

impl Key {
    /// Row, point and mode in words.
    pub(super) fn name(&self) -> String {
        let mut name = self.id.clone();
        if !self.at.is_empty() {
            let at: Vec<String> = self.at.iter().map(u64::to_string).collect();
            name = format!("{name} at {}", at.join(" x "));
        }
        match &self.mode {
            Some(mode) => format!("{name} ({mode})"),
            None => name,
        }
    }
}

/// One run's figure.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) estimate: Estimate,
    pub(super) unit: Unit,
    pub(super) bound: Bound,
    /// Workers that took the samples.
    pub(super) workers: u32,
}

/// A published figure.
#[derive(Clone, Debug)]
pub(super) struct Published {
    pub(super) ns: Option<f64>,
    pub(super) mb_per_s: Option<f64>,
    /// Why no ratio to it would mean anything, if so.
    pub(super) no_ratio: Option<String>,
}

/// What one side has of a figure.
#[derive(Clone, Debug)]
pub(super) enum Has {
    /// The figures of its runs.
    Runs(Vec<Figure>),
    /// What was published.
    Published(Published),
    /// Nothing.
    Nothing,
}

/// All figures of the sides' runs, in the order in which they come.
pub(super) fn keys(operands: &[&Operand]) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut add = |key: Key| {
        if seen.insert((key.id.clone(), key.at.clone(), key.mode.clone())) {
            keys.push(key);
        }
    };
    for run in operands.iter().flat_map(|operand| operand.runs()) {
        figures(run, |key, _, _| add(key));
    }
    // Between two published tables there is nothing else to go by.
    if operands.iter().all(|operand| operand.runs().is_empty()) {
        for operand in operands {
            if let Source::Published(table) = &operand.source {
                table.rows.iter().for_each(|row| add(whole(&row.id)));
            }
        }
    }
    keys
}

fn whole(id: &str) -> Key {
    Key {
        id: id.to_owned(),
        at: Vec::new(),
        mode: None,
    }
}

/// What a side has of each of these figures, in the same order.
pub(super) fn of_side(operand: &Operand, keys: &[Key]) -> Vec<Has> {
    match &operand.source {
        Source::Published(table) => keys.iter().map(|key| published(table, key)).collect(),
        Source::Runs(runs) => of_runs(runs, keys)
            .into_iter()
            .map(|figures| match figures.is_empty() {
                true => Has::Nothing,
                false => Has::Runs(figures),
            })
            .collect(),
    }
}

/// The figures of several runs by key.
pub(super) fn of_runs(runs: &[Run], keys: &[Key]) -> Vec<Vec<Figure>> {
    let mut found = vec![Vec::new(); keys.len()];
    let places: std::collections::HashMap<_, _> = keys
        .iter()
        .enumerate()
        .map(|(at, key)| ((&key.id, &key.at, &key.mode), at))
        .collect();
    for run in runs {
        figures(run, |key, row, estimate| {
            if let Some(&at) = places.get(&(&key.id, &key.at, &key.mode)) {
                found[at].push(Figure {
                    workers: workers(run, &key, &estimate),
                    estimate,
                    unit: row.unit,
                    bound: row.bound,
                });
            }
        });
    }
    found
}

/// Hands out every figure of a run.
fn figures(run: &Run, mut each: impl FnMut(Key, &Row, Estimate)) {
    for row in &run.rows {
        let mut point = |at: Vec<u64>, estimate: &Estimate| {
            let key = Key {
                at,
                ..whole(&row.id)
            };
            each(key.clone(), row, estimate.clone());
            for mode in large(&estimate.modes) {
                let key = Key {
                    mode: Some(mode.name.clone()),
                    ..key.clone()
                };
                each(key, row, alone(&mode.typical));
            }
        };
        match &row.outcome {
            Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => point(vec![], estimate),
            Outcome::Curve { points, .. } => {
                points.iter().for_each(|p| point(vec![p.x], &p.estimate));
            }
            Outcome::Map { points, .. } => {
                points
                    .iter()
                    .for_each(|p| point(vec![p.y, p.x], &p.estimate));
            }
            Outcome::Unavailable { .. } => {}
        }
    }
}

/// The modes that are figures of their own.
fn large(modes: &[Mode]) -> impl Iterator<Item = &Mode> {
    modes.iter().filter(|mode| {
        mode.share >= SHARE_OF_A_MODE && mode.typical.samples as usize >= SAMPLES_IN_ALL
    })
}

/// A mode as an estimate: nothing but its interval speaks for it.
fn alone(typical: &Typical) -> Estimate {
    Estimate {
        quiet: None,
        typical: Some(*typical),
        tail: None,
        modes: Vec::new(),
        quiet_share: None,
        below_ns: None,
        verdict: Verdict::Ok,
        reason: String::new(),
    }
}

/// How many workers took the samples of a typical figure. A run without
/// samples (imported, perhaps) is one process: there each sample counts.
fn workers(run: &Run, key: &Key, estimate: &Estimate) -> u32 {
    let cell = run
        .cells
        .iter()
        .find(|cell| cell.row == key.id && cell.at == key.at);
    match cell {
        Some(cell) => {
            let mut workers: Vec<u32> = cell.samples.workers.iter().map(|&(w, _)| w).collect();
            workers.sort_unstable();
            workers.dedup();
            workers.len() as u32
        }
        None => estimate.typical.map_or(1, |typical| typical.samples),
    }
}

fn published(table: &Reference, key: &Key) -> Has {
    let Some(beside) = table.beside(&key.id) else {
        return Has::Nothing;
    };
    if !key.at.is_empty() || key.mode.is_some() {
        return Has::Nothing;
    }
    let no_ratio = match &beside.row.doubtful {
        Some(why) => Some(format!("the published figure is doubtful: {why}")),
        None if !beside.comparable() => {
            Some("published of other code that does the same job".to_owned())
        }
        None => None,
    };
    Has::Published(Published {
        ns: beside.row.ns,
        mb_per_s: beside.row.mb_per_s,
        no_ratio,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;

    #[test]
    fn a_worker_that_came_twice_is_one() {
        let mut run = synthetic::run();
        let cell = &mut run.cells[0];
        cell.samples.workers = vec![(0, 3), (1, 2), (0, 4)];
        let key = whole(&cell.row);
        let estimate = run.rows.iter().find_map(Row::estimate).expect("a figure");
        assert_eq!(workers(&run, &key, estimate), 2);
        // Without samples each counts for itself.
        let samples = estimate.typical.expect("typical").samples;
        assert_eq!(workers(&run, &whole("my.row"), estimate), samples);
    }
}
