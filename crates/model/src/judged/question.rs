//! The question asked of two arms of a benchmark, by the rule that the noise of the host calls for.

use super::{FAMILY_LEVEL, SOUGHT};
use crate::compare::finding::{POWER, Samples, SummarizedSamples};
use crate::compare::permuted::{EVENLY, LOW_END, PermutedRounds};
use crate::compare::ratio::detectable;
use crate::compare::student;
use crate::stats::{self, Interval};

/// Where rounds of the base and the base again differ by so little (scale of the logarithm of their ratio), medians
/// say more than the low end: they see the whole of a process.
const QUIET: f64 = 0.01;
/// A benchmark is measured again where the chance of its first rounds without a change is smaller.
const MAY_HAVE_CHANGED: f64 = 0.2;
/// Level of the interval that is printed, and from which a standard error is taken.
const SHOWN_LEVEL: f64 = 1.0 - FAMILY_LEVEL;

/// What stands for a slot, and for an arm.
#[derive(serde::Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum SlotRule {
    /// The shortest sample of each slot, and the low end of these: a host with neighbours.
    LowEnd,
    /// The median of each slot, and nearly all of these: a quiet host.
    Medians,
}

impl SlotRule {
    /// By what the same build differs by from itself in the medians of its slots, round by round.
    pub fn of_host(base: &[Vec<f64>], again: &[Vec<f64>]) -> SlotRule {
        let both = base.iter().zip(again);
        let logs = both.filter_map(|(a, b)| Some((median(b)? / median(a)?).ln()));
        match stats::deviation_from(0.0, logs) {
            Some(scale) if scale <= QUIET => SlotRule::Medians,
            _ => SlotRule::LowEnd,
        }
    }

    /// What stands for a slot.
    fn of_slot(self, samples: &[f64]) -> f64 {
        match self {
            SlotRule::LowEnd => samples.iter().copied().fold(f64::INFINITY, f64::min),
            SlotRule::Medians => median(samples).unwrap_or(f64::NAN),
        }
    }
}

fn median(samples: &[f64]) -> Option<f64> {
    stats::median(samples.iter().copied())
}

/// Whether the second arm takes another time than the first.
#[derive(Clone, Debug)]
pub struct SlotQuestion {
    rule: SlotRule,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl SlotQuestion {
    /// Of the samples of both arms' slots, round by round.
    pub fn new(rule: SlotRule, first: &[Vec<f64>], second: &[Vec<f64>]) -> SlotQuestion {
        let of = |slots: &[Vec<f64>]| slots.iter().map(|slot| rule.of_slot(slot)).collect();
        SlotQuestion { rule, first: of(first), second: of(second) }
    }

    /// Whole rounds.
    pub fn rounds(&self) -> usize {
        self.first.len().min(self.second.len())
    }

    fn permuted(&self) -> PermutedRounds<'_> {
        let fall = match self.rule {
            SlotRule::LowEnd => LOW_END,
            SlotRule::Medians => EVENLY,
        };
        PermutedRounds { first: &self.first, second: &self.second, fall }
    }

    /// Standard error of the logarithm of the ratio.
    pub fn standard_error(&self) -> Option<f64> {
        self.interval(SHOWN_LEVEL).map(standard_error)
    }

    /// What the rounds say. Each part is thousands of permutations.
    pub fn summarized(&self) -> SlotSummary {
        let samples = SummarizedSamples(self.p_value(), self.interval(SHOWN_LEVEL));
        SlotSummary { rounds: self.rounds(), samples }
    }
}

/// What rounds say of their question.
#[derive(Clone, Copy, Debug)]
pub struct SlotSummary {
    /// Whole rounds.
    pub rounds: usize,
    /// The chance of such rounds without a change, and the ratio with its 99 % interval.
    pub samples: SummarizedSamples,
}

impl SlotSummary {
    /// Standard error of the logarithm of the ratio.
    pub fn standard_error(&self) -> Option<f64> {
        self.samples.1.map(standard_error)
    }
}

/// Of an interval at [`SHOWN_LEVEL`].
fn standard_error(interval: Interval) -> f64 {
    let half = (interval.high / interval.low).ln() / 2.0;
    half / student::quantile((1.0 + SHOWN_LEVEL) / 2.0, f64::INFINITY)
}

impl Samples for SlotQuestion {
    fn p_value(&self) -> Option<f64> {
        self.permuted().p_value()
    }

    fn interval(&self, level: f64) -> Option<Interval> {
        self.permuted().interval(level)
    }
}

/// What the first rounds, those of all benchmarks, say of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screened {
    /// The chance of such rounds without a change.
    pub p_value: f64,
    /// The smallest change for which it is measured again in [`POWER`] of cases, a share; absent where there are too
    /// few rounds.
    pub detectable: Option<f64>,
}

impl Screened {
    /// From the rounds.
    pub fn from_summary(summary: &SlotSummary) -> Screened {
        let least = |error| detectable(error, f64::INFINITY, MAY_HAVE_CHANGED, POWER);
        Screened {
            p_value: summary.samples.0.unwrap_or(1.0),
            detectable: summary.standard_error().map(least),
        }
    }

    /// Whether the change that is sought could be there.
    pub fn is_open(&self) -> bool {
        self.p_value < MAY_HAVE_CHANGED || self.detectable.is_none_or(|least| least > SOUGHT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::slots::SlotNoise;

    fn arms(mut noise: SlotNoise, changes: [f64; 2], rounds: usize) -> [Vec<Vec<f64>>; 2] {
        let slots = (0..rounds).map(|_| changes.map(|change| noise.samples_ns(500.0 * change, 30)));
        let (first, second) = slots.map(|[a, b]| (a, b)).unzip();
        [first, second]
    }

    #[test]
    fn the_rule_follows_the_noise() {
        let of = |noise| {
            let [base, again] = arms(noise, [1.0, 1.0], 20);
            SlotRule::of_host(&base, &again)
        };
        assert_eq!(of(SlotNoise::of_shared_machine(1)), SlotRule::LowEnd);
        // The noise of both arms together is 1.4 times that of one.
        assert_eq!(of(SlotNoise::of_quiet_machine(1, 0.004)), SlotRule::Medians);
        assert_eq!(SlotRule::of_host(&[], &[]), SlotRule::LowEnd, "nothing is known");
    }

    #[test]
    fn a_change_is_open_and_none_is_mostly_closed() {
        let open = |change: f64| {
            let of = |seed: u64| {
                let [base, head] = arms(SlotNoise::of_shared_machine(seed), [1.0, change], 20);
                let question = SlotQuestion::new(SlotRule::LowEnd, &base, &head);
                Screened::from_summary(&question.summarized()).is_open()
            };
            (1..=40).filter(|seed| of(*seed)).count()
        };
        let [none, five] = [open(1.0), open(1.05)];
        assert!(none < 24 && five >= 38, "{none} {five}");
    }

    #[test]
    fn both_rules_have_the_ratio_of_the_arms() {
        for rule in [SlotRule::LowEnd, SlotRule::Medians] {
            let [base, head] = arms(SlotNoise::of_quiet_machine(7, 0.004), [1.0, 1.1], 40);
            let question = SlotQuestion::new(rule, &base, &head);
            let interval = question.interval(0.99).expect("forty rounds");
            assert!(interval.low > 1.09 && interval.high < 1.11, "{rule:?} {interval:?}");
            assert!(question.p_value().expect("rounds") < 1e-4);
            let error = question.summarized().standard_error().expect("rounds");
            assert!(error > 0.0 && error < 0.005, "{error}");
        }
    }
}
