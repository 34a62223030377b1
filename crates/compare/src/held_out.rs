//! Whether dividing by a reference workload takes error out of this machine's
//! figures: asked of runs that should have come out alike and are not compared
//! themselves. A reference that wanders by itself puts error in.

use super::bases::{Applies, Bases};
use super::row::{Rule, readings};
use super::shared::RunFigure;
use crate::no_reference::NoReference;
use model::compare::measure::Measure;
use model::stats;
use model::summary::Key;
use std::collections::HashMap;

/// Pairs of successive kept runs that must have the reference.
const FEWEST: usize = 2;
/// Steps with the reference taken out must be at most this part of those without:
/// a little less may be chance.
const CLEARLY: f64 = 0.75;

/// That it does.
///
/// # Errors
/// Why not: it was not seen to, or the kept runs don't differ clearly less with
/// it.
pub(super) fn takes_error_out(
    reference: usize,
    keys: &[Key],
    rule: &Rule,
    bases: &Bases,
    applies: Applies,
) -> Result<(), NoReference> {
    let (mut plain, mut divided) = (Vec::new(), Vec::new());
    let mut pairs = 0;
    for (_, figures) in rule.kept.iter().skip(rule.own) {
        let steps = |at: usize| steps(&figures[at], bases.by_key[at].measure);
        let of_reference = steps(reference);
        pairs += of_reference.len();
        for (at, key) in keys.iter().enumerate() {
            let basis = &bases.by_key[at];
            let in_ns = basis.measure != Some(Measure::QuietCycles) && basis.is_time();
            let single = key.at.is_empty() && key.mode.is_none();
            if at == reference || !single || !in_ns || !applies(&key.id) {
                continue;
            }
            for (run, step) in steps(at) {
                let Some(own) = of_reference.get(&run) else {
                    continue;
                };
                plain.push(step.abs());
                divided.push((step - own).abs());
            }
        }
    }
    if pairs < FEWEST {
        return Err(NoReference::FewRuns);
    }
    match (stats::median(plain), stats::median(divided)) {
        (Some(plain), Some(divided)) if divided <= CLEARLY * plain => Ok(()),
        (Some(plain), Some(divided)) => Err(NoReference::TooLittle { plain, divided }),
        _ => Err(NoReference::NoRows),
    }
}

/// What each run differs by from the one before it in its group, of the
/// logarithm.
fn steps(figures: &[RunFigure], measure: Option<Measure>) -> HashMap<usize, f64> {
    let Some(measure) = measure else {
        return HashMap::new();
    };
    let of_run = |figure: &RunFigure| {
        let reading = readings(std::slice::from_ref(figure), measure);
        Some((figure.run, reading.first()?.ln))
    };
    let by_run: HashMap<usize, f64> = figures.iter().filter_map(of_run).collect();
    let step = |(&run, ln): (&usize, &f64)| Some((run, by_run.get(&(run + 1))? - ln));
    by_run.iter().filter_map(step).collect()
}
