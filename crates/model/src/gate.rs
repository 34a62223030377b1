//! Was the machine quiet during a sample? The judging of the evidence, apart
//! from its taking, so that a stored run can be judged again.
//!
//! The canary is a taken-branch loop set against a chain of dependent adds.
//! Both cost whole clock cycles, so their ratio cancels the frequency; a
//! neighbour on the same core's other thread takes turns at the front end and
//! doubles it, while the adds hardly move. It does not see theft of the last
//! level, for which memory rows carry a second canary.

use crate::sample::{Sample, flag};
use crate::stats;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ratio up to this much above the quiet one still counts as quiet: between
/// the two modes (1.0 and 1.7 to 2.4 on Zen 3) hardly any reading lies.
pub const RATIO_TOLERANCE: f64 = 0.15;
/// A last-level canary up to this much above its low mode still counts as
/// quiet.
pub const LAST_LEVEL_TOLERANCE: f64 = 0.25;
/// A clock cycle this much longer than the run's fastest one tells of
/// throttling or of a stalled thread, not of ordinary frequency control.
pub const CYCLE_TOLERANCE: f64 = 0.6;

/// Quiet canary ratios by microarchitecture, each measured by us on that kind
/// of core. Kinds that are not here are learnt from the run itself.
const TABLE: &[(&str, f64)] = &[("Zen 3", 1.0)];

/// The quiet ratio known for a microarchitecture's name.
pub fn table_ratio(microarchitecture: &str) -> Option<f64> {
    TABLE
        .iter()
        .find(|(name, _)| microarchitecture.starts_with(name))
        .map(|&(_, ratio)| ratio)
}

/// Thresholds by which samples count as quiet.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Gate {
    /// Canary ratio of the quiet machine.
    pub quiet_ratio: f64,
    /// Whether that ratio is from our table for this microarchitecture. If
    /// not, it is the low mode of this run's own readings: a machine that was
    /// never quiet would pass unnoticed.
    pub calibrated: bool,
    /// Fastest clock cycle of the run (1 % quantile), in ns.
    pub fastest_cycle_ns: Option<f64>,
    /// Low mode of the last-level canary, in ns a load.
    pub quiet_last_level_ns: Option<f64>,
}

/// One reading of the canaries, wherever it was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CanaryReading {
    /// Taken-branch loop over dependent-add chain.
    pub ratio: f64,
    /// Time of one dependent add, in ns.
    pub cycle_ns: f64,
}

impl Gate {
    /// Thresholds from the run's own samples, with the table's ratio where
    /// this microarchitecture is in it.
    pub fn learn(microarchitecture: Option<&str>, samples: &[Sample]) -> Gate {
        let ratios = stats::sorted(
            samples
                .iter()
                .filter_map(|s| s.evidence.canary_percent)
                .map(|p| f64::from(p) / 100.0),
        );
        let cycles = stats::sorted(samples.iter().filter_map(Sample::cycle_ns));
        let last_level = stats::sorted(
            samples
                .iter()
                .filter_map(|s| s.evidence.last_level_ps)
                .map(|ps| f64::from(ps) / 1000.0),
        );
        let known = microarchitecture.and_then(table_ratio);
        Gate {
            quiet_ratio: known.or_else(|| low_mode(&ratios)).unwrap_or(1.0),
            calibrated: known.is_some(),
            fastest_cycle_ns: stats::quantile_sorted(&cycles, 0.01),
            quiet_last_level_ns: low_mode(&last_level),
        }
    }

    /// Whether one canary reading is that of a quiet machine.
    pub fn is_quiet_reading(&self, reading: &CanaryReading) -> bool {
        reading.ratio <= self.quiet_ratio * (1.0 + RATIO_TOLERANCE)
            && self
                .fastest_cycle_ns
                .is_none_or(|fastest| reading.cycle_ns <= fastest * (1.0 + CYCLE_TOLERANCE))
    }

    /// Whether the sample was taken on a quiet machine. A sample without a
    /// canary is never quiet: nothing vouches for it.
    pub fn is_quiet(&self, sample: &Sample) -> bool {
        let evidence = &sample.evidence;
        let broken = flag::CLOCK_MOVED
            | flag::COUNTER_BROKEN
            | flag::MIGRATED
            | flag::THROTTLED
            | flag::FAULTED
            | flag::CONTRADICTED;
        let (Some(percent), Some(cycle_ns)) = (evidence.canary_percent, sample.cycle_ns()) else {
            return false;
        };
        let reading = CanaryReading {
            ratio: f64::from(percent) / 100.0,
            cycle_ns,
        };
        evidence.lost_ns == 0
            && evidence.flags & broken == 0
            && self.is_quiet_reading(&reading)
            && match (evidence.last_level_ps, self.quiet_last_level_ns) {
                (Some(ps), Some(quiet)) => {
                    f64::from(ps) / 1000.0 <= quiet * (1.0 + LAST_LEVEL_TOLERANCE)
                }
                _ => true,
            }
    }
}

/// The low mode of sorted readings: the densest stretch, 10 % wide, that
/// holds at least a twentieth of the readings, taking the lowest such one.
/// A plain minimum would follow the odd reading that came out too low.
pub fn low_mode(sorted: &[f64]) -> Option<f64> {
    let needed = (sorted.len() / 20).max(1);
    let mut end = 0;
    for start in 0..sorted.len() {
        while end < sorted.len() && sorted[end] <= sorted[start] * 1.1 {
            end += 1;
        }
        if end - start >= needed {
            return stats::quantile_sorted(&sorted[start..end], 0.5);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Evidence;

    fn sample(percent: u16, cycle_fs: u32) -> Sample {
        Sample {
            worker: 0,
            at_ms: 0,
            turns: 1,
            first_ticks: 1,
            second_ticks: None,
            evidence: Evidence {
                canary_percent: Some(percent),
                cycle_fs: Some(cycle_fs),
                ..Evidence::default()
            },
        }
    }

    #[test]
    fn unknown_core_learns_the_low_mode() {
        // 30 % of the time quiet at 1.3, else about 2.6, one stray 0.4.
        let mut samples = vec![sample(40, 400_000)];
        samples.extend((0..30).map(|i| sample(128 + i % 5, 400_000)));
        samples.extend((0..70).map(|i| sample(250 + i % 20, 400_000)));
        let gate = Gate::learn(Some("Cortex-X9"), &samples);
        assert!(!gate.calibrated);
        assert!((gate.quiet_ratio - 1.3).abs() < 0.03, "{gate:?}");
        assert!(gate.is_quiet(&sample(131, 400_000)));
        assert!(!gate.is_quiet(&sample(250, 400_000)));
    }

    #[test]
    fn known_core_does_not_learn_a_busy_machine() {
        let samples: Vec<Sample> = (0..100).map(|i| sample(200 + i % 9, 400_000)).collect();
        let gate = Gate::learn(Some("Zen 3 (Milan)"), &samples);
        assert!(gate.calibrated);
        assert!(!samples.iter().any(|s| gate.is_quiet(s)));
    }

    #[test]
    fn lost_time_or_a_mark_is_never_quiet() {
        let gate = Gate::learn(Some("Zen 3"), &[sample(100, 400_000)]);
        assert!(gate.is_quiet(&sample(101, 400_000)));
        let mut lost = sample(100, 400_000);
        lost.evidence.lost_ns = 5_000;
        assert!(!gate.is_quiet(&lost));
        let mut moved = sample(100, 400_000);
        moved.evidence.flags = flag::CLOCK_MOVED;
        assert!(!gate.is_quiet(&moved));
        let mut hunted = sample(100, 400_000);
        hunted.evidence.flags = flag::HUNTED;
        assert!(gate.is_quiet(&hunted));
        let mut blind = sample(100, 400_000);
        blind.evidence.canary_percent = None;
        assert!(!gate.is_quiet(&blind));
        assert!(!gate.is_quiet(&sample(100, 900_000)), "half the frequency");
    }

    #[test]
    fn last_level_theft_shows_only_in_its_own_canary() {
        let mut samples: Vec<Sample> = (0..40).map(|_| sample(100, 400_000)).collect();
        for (i, s) in samples.iter_mut().enumerate() {
            s.evidence.last_level_ps = Some(if i % 2 == 0 { 15_000 } else { 60_000 });
        }
        let gate = Gate::learn(Some("Zen 3"), &samples);
        assert_eq!(samples.iter().filter(|s| gate.is_quiet(s)).count(), 20);
    }
}
