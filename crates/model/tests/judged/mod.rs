//! Makes samples as a worker process takes them, and estimates them. Shared by the test programs of this
//! folder that check how samples are judged.

use model::context::Context;
use model::core_clock::CoreClock;
use model::estimate::Estimate;
use model::estimator::estimate;
use model::gate::Gate;
use model::machine_readings::MachineReadings;
use model::run::{Bound, Regime};
use model::sample::{Evidence, Sample};

/// A plain sample of 1000 operations that took so many ns each, at this length
/// of a cycle in ns; ticks are 0.01 ns.
pub(crate) fn sample(worker: u32, at_ms: u32, ns: f64, cycle_ns: f64) -> Sample {
    Sample {
        worker,
        at_ms,
        turns: 1000,
        first_ticks: (ns * 1000.0 / 0.01).round() as u64,
        second_ticks: None,
        evidence: Evidence {
            canary_percent: Some(100),
            cycle_fs: Some((cycle_ns * 1e6) as u32),
            ..Evidence::default()
        },
    }
}

/// The estimate of samples of eight workers.
#[allow(dead_code, reason = "not every test judges with the run's own clock")]
pub(crate) fn judge(
    samples: &[Sample],
    gate: &Gate,
    bound: Bound,
    regime: Regime,
    modes: &[&str],
) -> Estimate {
    let clock = MachineReadings::from_samples(samples).core_clock();
    judge_at(samples, gate, clock.as_ref(), bound, regime, modes)
}

/// The same at a clock that is given.
pub(crate) fn judge_at(
    samples: &[Sample],
    gate: &Gate,
    core_clock: Option<&CoreClock>,
    bound: Bound,
    regime: Regime,
    modes: &[&str],
) -> Estimate {
    let modes: Vec<String> = modes.iter().map(ToString::to_string).collect();
    estimate(
        samples,
        &Context { core_clock, bound, modes: &modes, ..Context::plain(gate, regime, 0.01) },
    )
}
