//! What disturbed a run, so that its figures can't be held against the machine.

use crate::estimate::NOISY_ABOVE;
use crate::noise::osnoise::{Cause, Osnoise};
use crate::run::Run;
use crate::share::{half, percent};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A spinning thread that lost more of its time than this was disturbed.
const LOST: f64 = 0.05;
/// The same of steal over the whole run, on all CPUs.
const STEAL: f64 = 0.02;

/// A disturbance.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// The run was not finished.
    Partial(String),
    /// The canaries found the core shared most of the time.
    Contended,
    /// A spinning thread lost this share of its time, mostly to this cause.
    Lost {
        /// 0 to 1.
        share: f64,
        /// The largest cause.
        cause: Option<Cause>,
    },
    /// The hypervisor took this share of all CPUs.
    Steal(f64),
    /// Loads from memory varied: their time is known to this share only, to either side.
    UnsteadyMemory(f64),
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Noise::Partial(why) => write!(f, "the run is not complete: {why}"),
            Noise::Contended => f.write_str("the core was shared most of the time"),
            Noise::Lost { share, cause } => {
                write!(f, "{} of CPU time lost", percent(*share))?;
                match cause {
                    Some(cause) => write!(f, " (most: {})", cause.words()),
                    None => Ok(()),
                }
            }
            Noise::Steal(share) => write!(f, "steal {}", percent(*share)),
            Noise::UnsteadyMemory(share) => {
                write!(f, "load from memory varies by {}", half(*share))
            }
        }
    }
}

/// All that disturbed a run. Time that a CPU quota took is none: it is the machine's.
pub(super) fn disturbances(run: &Run) -> Vec<Noise> {
    let mut all = Vec::new();
    all.extend(run.partial.clone().map(Noise::Partial));
    if run.is_contended() {
        all.push(Noise::Contended);
    }
    if let Some(share) = lost_share(run).filter(|share| *share > LOST)
        && throttled_share(run).is_none()
    {
        let cause = main_cause(run);
        all.push(Noise::Lost { share, cause });
    }
    all.extend(steal(run).filter(|share| *share > STEAL).map(Noise::Steal));
    all
}

/// Whether loads from memory varied by more than 5 %, which published hosts that did are left out for.
pub fn unsteady_memory(run: &Run) -> Option<Noise> {
    let row = run.row(super::Element::Dram.row_id()?)?;
    let widths = row.figures().into_iter().filter_map(|figure| figure.estimate.ns());
    let widest = widths.map(|ns| ns.relative_half_width()).fold(0.0, f64::max);
    (widest > NOISY_ABOVE).then_some(Noise::UnsteadyMemory(widest))
}

fn spins(run: &Run) -> Vec<&Osnoise> {
    let around = run.conditions.osnoise.iter();
    around.flat_map(|around| [Some(&around.before), around.after.as_ref()]).flatten().collect()
}

/// Share of the time that a spinning thread lost just before and just after the run.
pub(super) fn lost_share(run: &Run) -> Option<f64> {
    let spins = spins(run);
    let sum = |of: fn(&Osnoise) -> u64| spins.iter().map(|spin| of(spin)).sum::<u64>();
    let (lost_ns, watched_ns) = (sum(|spin| spin.lost_ns), sum(Osnoise::watched_ns));
    (watched_ns > 0).then(|| lost_ns as f64 / watched_ns as f64)
}

fn main_cause(run: &Run) -> Option<Cause> {
    let spins = spins(run);
    let of = |cause: Cause| -> u64 {
        let all = spins.iter().filter_map(|spin| spin.cause_total(cause));
        all.map(|total| total.lost_ns).sum()
    };
    let most = Cause::ALL.into_iter().max_by_key(|cause| of(*cause))?;
    (of(most) > 0).then_some(most)
}

fn steal(run: &Run) -> Option<f64> {
    let (before, after) = (&run.conditions.before, &run.conditions.after);
    let ns = after.steal_ns?.checked_sub(before.steal_ns?)?;
    let cpus = run.machine.online_cpus.get()?.len() as u64;
    let all_ns = run.wall_ms * 1_000_000 * cpus;
    (all_ns > 0).then(|| ns as f64 / all_ns as f64)
}

/// Share of the run for which the CPU quota stopped its control group; `None` if it didn't, or if there is none.
pub(super) fn throttled_share(run: &Run) -> Option<f64> {
    let throttled_us = run.conditions.throttled_us().filter(|us| *us > 0)?;
    (run.wall_ms > 0).then(|| throttled_us as f64 / (run.wall_ms * 1000) as f64)
}
