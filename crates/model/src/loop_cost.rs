//! Whether the two loops of a difference, U and 2U, ran alike.
//!
//! The method holds if a turn of either costs the loop's own instructions (a
//! count and a branch) and its operations, and nothing else: then U's time less
//! what the difference says that U operations take leaves the loop's own. What
//! is left is known beforehand, since a counted loop costs between nothing (it
//! runs in parallel with a dependent chain) and one taken branch a cycle.
//! Anything else was paid by one of the two loops only, and stands in the figure:
//! a front end that slows U alone once made a population count run at ten a
//! cycle.

use crate::context::Context;
use crate::estimate::{CANNOT_TELL_ABOVE, Estimate, NOISY_ABOVE, Verdict};
use crate::sample::Sample;
use crate::share::bound;
use crate::spread::worker_medians;
use crate::stats::{self, Interval};

/// Cycles that the loop itself may cost a turn, at least and at most.
pub const LOOP_CYCLES: (f64, f64) = (0.0, 1.5);

/// Cycles of one turn, each with a 95 % interval over worker processes: Yuen's,
/// as the figure's own, since one stray worker would leave nothing sure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Of the loop itself: U's time less U operations.
    pub own: Interval,
    /// Of its U operations, as the difference has them.
    pub operations: Interval,
}

impl Turn {
    /// What paired samples say of a turn. `None` without a known clock cycle,
    /// without a second loop, or with samples of fewer than two workers.
    pub fn from_samples(samples: &[&Sample], ns_per_tick: f64) -> Option<Turn> {
        let over_workers = |ticks: fn(f64, f64) -> f64| {
            let values: Option<Vec<(u32, f64)>> = samples
                .iter()
                .map(|s| {
                    let ticks = ticks(s.first_ticks as f64, s.second_ticks? as f64);
                    let cycles = ticks * ns_per_tick / s.cycle_ns()?;
                    Some((s.worker, cycles / s.turns as f64))
                })
                .collect();
            stats::trimmed_t_interval(&worker_medians(&values?))
        };
        Some(Turn {
            own: over_workers(|single, double| 2.0 * single - double)?,
            operations: over_workers(|single, double| double - single)?,
        })
    }

    /// Cycles by which the loop's own cost is surely outside of what a loop
    /// can cost.
    fn excess(&self) -> f64 {
        let (least, most) = LOOP_CYCLES;
        (self.own.low - most).max(least - self.own.high).max(0.0)
    }

    /// By which share of itself the figure may be wrong: the excess was paid
    /// by one loop only.
    pub fn error(&self) -> f64 {
        match self.excess() {
            0.0 => 0.0,
            excess => excess / self.operations.value.abs(),
        }
    }
}

/// Lowers the verdict of a row whose two loops did not run alike on the quiet
/// machine. One that is worse already stays.
pub fn weigh(estimate: &mut Estimate, samples: &[Sample], context: &Context) {
    if !matches!(estimate.verdict, Verdict::Ok | Verdict::Noisy) {
        return;
    }
    let quiet = context.gate.quiet_samples(samples);
    let Some(turn) = Turn::from_samples(&quiet, context.ns_per_tick) else {
        return;
    };
    let error = turn.error();
    let (least, most) = LOOP_CYCLES;
    let reason = format!(
        "loop-overhead check failed ({:.1} cycles per iteration, expected {least:.0} to {most:.1})",
        turn.own.value
    );
    if error > CANNOT_TELL_ABOVE {
        estimate.invalidate(reason);
    } else if error > NOISY_ABOVE {
        estimate.verdict = Verdict::Biased;
        estimate.reason = format!("{reason}: result may be off by {}", bound(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Gate;
    use crate::machine_readings::MachineReadings;
    use crate::run::{Bound, Regime};
    use crate::sample::Evidence;

    /// Eight workers' samples of 1000 turns of 24 operations: a turn of U and
    /// one of 2U take so many cycles. A cycle is 0.4 ns, a tick 0.01 ns.
    fn samples(single: f64, double: f64) -> Vec<Sample> {
        (0..8_u32)
            .flat_map(|worker| (0..6).map(move |k| (worker, k)))
            .map(|(worker, k)| {
                // Some noise, the same in both loops.
                let jitter = f64::from((worker * 7 + k * 3) % 5) * 0.002;
                let ticks = |cycles: f64| (cycles * (1.0 + jitter) * 40_000.0).round() as u64;
                Sample {
                    worker,
                    at_ms: k,
                    turns: 1000,
                    first_ticks: ticks(single),
                    second_ticks: Some(ticks(double)),
                    evidence: Evidence {
                        canary_percent: Some(100),
                        cycle_fs: Some(400_000),
                        ..Evidence::default()
                    },
                }
            })
            .collect()
    }

    fn turn(single: f64, double: f64) -> Turn {
        let samples = samples(single, double);
        Turn::from_samples(&samples.iter().collect::<Vec<_>>(), 0.01).expect("paired samples")
    }

    #[test]
    fn the_loops_own_cost_is_what_the_operations_leave() {
        let of_adds = turn(5.0, 9.0);
        assert!((of_adds.own.value - 1.0).abs() < 0.02, "{of_adds:?}");
        assert!((of_adds.operations.value - 4.0).abs() < 0.05, "{of_adds:?}");
        assert_eq!(of_adds.error(), 0.0);
        // In parallel with a dependent chain the loop costs nothing.
        assert_eq!(turn(72.0, 144.0).error(), 0.0);
    }

    #[test]
    fn what_only_one_loop_paid_is_a_part_of_the_figure() {
        // 24 counts at four a cycle, where U alone waits for the front end:
        // the difference says ten a cycle.
        let by_u = turn(10.6, 13.0);
        assert!(by_u.error() > 1.0, "{by_u:?}");
        // 2U does not fit where U did.
        let by_double = turn(7.0, 15.5);
        assert!((0.1..0.25).contains(&by_double.error()), "{by_double:?}");
        // The same cycles of a turn a hundred times as long are nothing.
        assert!(turn(800.0, 1601.5).error() < 0.01);
    }

    #[test]
    fn a_stray_worker_hides_nothing() {
        let mut all = samples(10.6, 13.0);
        for s in all.iter_mut().filter(|s| s.worker == 3) {
            s.first_ticks *= 3;
        }
        let turn =
            Turn::from_samples(&all.iter().collect::<Vec<_>>(), 0.01).expect("paired samples");
        assert!(turn.error() > 1.0, "{turn:?}");
    }

    /// What becomes of a good row.
    fn weighed(single: f64, double: f64) -> Estimate {
        let samples = samples(single, double);
        weighed_of(&samples)
    }

    fn weighed_of(samples: &[Sample]) -> Estimate {
        let gate = Gate {
            multiply_ratio: Some(3.0),
            ..MachineReadings::from_samples(samples).gate(Some(1.0))
        };
        let context = Context {
            ops_per_turn: 24.0,
            bound: Bound::Core,
            ..Context::plain(&gate, Regime::Gated, 0.01)
        };
        let mut estimate = crate::estimator::estimate(samples, &context);
        assert_eq!(estimate.verdict, Verdict::Ok, "{estimate:?}");
        weigh(&mut estimate, samples, &context);
        estimate
    }

    #[test]
    fn visits_that_are_mostly_disturbed_say_nothing_of_the_loops() {
        // Of visits with four disturbed samples and two that look quiet the
        // figure has none.
        let mut all = samples(5.0, 9.0);
        let mut disturbed = samples(10.6, 13.0);
        for s in &mut disturbed {
            s.evidence.canary_percent = Some(if s.at_ms < 2 { 100 } else { 170 });
        }
        all.iter_mut().for_each(|s| s.at_ms = 0);
        disturbed.iter_mut().for_each(|s| s.at_ms = 1);
        for _ in 0..4 {
            all.extend(disturbed.iter().copied());
        }
        assert_eq!(weighed_of(&all).verdict, Verdict::Ok);
    }

    #[test]
    fn a_row_whose_loops_did_not_run_alike_is_not_ok() {
        assert_eq!(weighed(5.0, 9.0).verdict, Verdict::Ok);
        let counts = weighed(10.6, 13.0);
        assert_eq!(counts.verdict, Verdict::Invalid);
        assert_eq!(counts.ns(), None, "nothing to rely on");
        assert_eq!(
            counts.reason,
            "loop-overhead check failed (8.2 cycles per iteration, expected 0 to 1.5)"
        );
        let spilled = weighed(7.0, 15.5);
        assert_eq!(spilled.verdict, Verdict::Biased);
        assert_eq!(
            spilled.reason,
            "loop-overhead check failed (-1.5 cycles per iteration, expected 0 to 1.5): result may be off by 18 %"
        );
    }

    #[test]
    fn samples_without_a_second_loop_or_a_clock_say_nothing() {
        let mut all = samples(5.0, 9.0);
        all[3].second_ticks = None;
        assert_eq!(Turn::from_samples(&all.iter().collect::<Vec<_>>(), 0.01), None);
        let mut all = samples(5.0, 9.0);
        all[3].evidence.cycle_fs = None;
        assert_eq!(Turn::from_samples(&all.iter().collect::<Vec<_>>(), 0.01), None);
        assert_eq!(Turn::from_samples(&[], 0.01), None);
    }
}
