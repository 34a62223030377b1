//! A cell as a list of repeated measurements: what the formats of other tools
//! are made of.

use crate::context::{Context, in_ns};
use crate::estimate::WORKERS;
use crate::run::Regime;
use crate::sample::{Sample, ordinary};
use crate::spread::worker_medians;

/// What `samples` come to as independent repetitions of a quiet figure, in ns
/// per operation: the median of each worker process's quiet samples. Where
/// fewer than three workers have such, [`of_all`].
///
/// Only for what has a quiet figure: fewer samples make medians than make a
/// figure, and repetitions must be of what the figure is of.
pub fn of_quiet(samples: &[Sample], context: &Context) -> Vec<f64> {
    let quiet = match context.regime {
        Regime::Gated => context.gate.quiet_samples(samples),
        Regime::Distribution | Regime::Stamped => Vec::new(),
    };
    of_workers(quiet.into_iter(), context).unwrap_or_else(|| of_all(samples, context))
}

/// The same of all ordinary samples. Where there are fewer than three workers
/// (as in every imported run: one process) the samples themselves.
pub fn of_all(samples: &[Sample], context: &Context) -> Vec<f64> {
    of_workers(ordinary(samples), context).unwrap_or_else(|| each(samples, context))
}

/// Each worker's median, if there are enough of them.
fn of_workers<'s>(
    samples: impl Iterator<Item = &'s Sample>,
    context: &Context,
) -> Option<Vec<f64>> {
    let values: Vec<(u32, f64)> = samples.map(|s| (s.worker, in_ns(s, context))).collect();
    let medians = worker_medians(&values);
    (medians.len() >= WORKERS).then_some(medians)
}

/// Every ordinary sample, ns per operation, in the order it was taken: the
/// distribution behind *typical*.
pub fn each(samples: &[Sample], context: &Context) -> Vec<f64> {
    ordinary(samples).map(|s| s.ns_per_op(context.ops_per_turn, context.ns_per_tick)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Gate;
    use crate::machine_readings::MachineReadings;
    use crate::sample::{Evidence, flag};

    fn sample(worker: u32, ticks: u64, canary: u16) -> Sample {
        Sample {
            worker,
            // Each change of state is another visit.
            at_ms: u32::from(canary),
            turns: 10,
            first_ticks: ticks,
            second_ticks: None,
            evidence: Evidence {
                canary_percent: Some(canary),
                cycle_fs: Some(400_000),
                ..Evidence::default()
            },
        }
    }

    fn context(gate: &Gate, regime: Regime) -> Context<'_> {
        Context { workers: 3, ..Context::plain(gate, regime, 0.5) }
    }

    #[test]
    fn workers_medians_of_quiet_samples_come_first() {
        // Three workers: 10, 20 and 30 ns when quiet, 100 ns when not.
        let mut samples = Vec::new();
        for worker in 1..4 {
            for _ in 0..3 {
                samples.push(sample(worker - 1, u64::from(worker) * 200, 100));
                samples.push(sample(worker - 1, 2_000, 200));
                samples.push(sample(worker - 1, 2_000, 200));
            }
        }
        let gate = MachineReadings::from_samples(&samples).gate(Some(1.0));
        let gated = context(&gate, Regime::Gated);
        assert_eq!(of_quiet(&samples, &gated), [10.0, 20.0, 30.0]);
        assert_eq!(of_all(&samples, &gated), [100.0, 100.0, 100.0]);
        let distribution = context(&gate, Regime::Distribution);
        assert_eq!(of_quiet(&samples, &distribution), [100.0, 100.0, 100.0]);
    }

    #[test]
    fn of_one_process_every_sample_is_a_repetition() {
        let mut samples: Vec<Sample> = (1..6).map(|k| sample(0, k * 20, 100)).collect();
        samples[4].evidence.flags = flag::WAITED_FOR_QUIET;
        let gate = MachineReadings::from_samples(&samples).gate(None);
        let context = context(&gate, Regime::Distribution);
        assert_eq!(of_all(&samples, &context), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(each(&samples, &context), [1.0, 2.0, 3.0, 4.0]);
    }
}
