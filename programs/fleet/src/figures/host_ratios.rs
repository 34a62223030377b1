//! The ratios of the same hosts in two campaigns: Student's t on their logarithms, which sees how large they are,
//! and the sign test, which one host can't spoil. Both at half the level (Bonferroni). Where nothing changed, both
//! campaigns come out alike, so the logarithms are symmetric about 0, where t errs on the safe side however long
//! their tails are.

use super::LEAST_HOSTS;
use model::compare::between::Wander;
use model::compare::finding::{POWER, Samples};
use model::compare::ratio::Ratio;
use model::compare::reading::Variance;
use model::compare::student;
use model::interleaved::Rounds;
use model::stats::{self, Interval};

/// Tests of each row.
const TESTS: f64 = 2.0;
/// More hosts than this are not asked for.
const MOST_HOSTS: usize = 1_000_000;

/// The same hosts' times in A and B.
pub(super) struct HostRatios<'a> {
    first: &'a [f64],
    second: &'a [f64],
    /// Mean of the logarithms; `None` where the median is not within its interval: hosts changed unalike.
    mean: Option<Ratio>,
}

impl HostRatios<'_> {
    pub(super) fn between<'a>(first: &'a [f64], second: &'a [f64]) -> HostRatios<'a> {
        let logarithms: Vec<f64> = first.iter().zip(second).map(|(a, b)| (b / a).ln()).collect();
        let mean = || {
            let hosts = logarithms.len() as f64;
            let deviation = stats::standard_deviation(&logarithms)?.max(Wander::Cycles.least());
            let mean = Ratio {
                ln: stats::mean(&logarithms)?,
                error: Variance { value: deviation * deviation / hosts, df: hosts - 1.0 },
            };
            let median = stats::median(logarithms.iter().copied())?.exp();
            let own = mean.interval(each(0.95))?;
            (own.low <= median && median <= own.high).then_some(mean)
        };
        HostRatios { first, second, mean: mean().filter(|_| first.len() >= LEAST_HOSTS) }
    }

    /// The median ratio with the interval that no test at this level excludes.
    pub(super) fn interval(&self, level: f64) -> Option<Interval> {
        let value = stats::median(self.first.iter().zip(self.second).map(|(a, b)| b / a))?;
        let signs = Rounds(self.first, self.second).interval(each(level));
        let mean = self.mean.and_then(|mean| mean.interval(each(level)));
        let both = [signs, mean].into_iter().flatten();
        let both =
            both.reduce(|a, b| Interval { value, low: a.low.max(b.low), high: a.high.min(b.high) });
        both.filter(|_| self.is_enough()).map(|both| Interval { value, ..both })
    }

    /// The chance of such ratios where nothing changed.
    pub(super) fn p_value(&self) -> f64 {
        let signs = Rounds(self.first, self.second).p_value();
        self.smaller(signs, self.mean.and_then(|mean| mean.p_value()))
    }

    /// The chance of ratios this large where no time grew by more than this factor.
    pub(super) fn p_above(&self, factor: f64) -> f64 {
        let allowed: Vec<f64> = self.first.iter().map(|ns| ns * factor).collect();
        let beyond = HostRatios::between(&allowed, self.second);
        let signs = Rounds(&allowed, self.second).p_value().map(|p| p / 2.0);
        let median = stats::median(allowed.iter().zip(self.second).map(|(a, b)| b / a));
        match median.is_some_and(|median| median > 1.0) {
            true => self.smaller(signs, beyond.mean.and_then(|mean| mean.p_above(1.0))),
            false => 1.0,
        }
    }

    fn smaller(&self, signs: Option<f64>, mean: Option<f64>) -> f64 {
        let smaller = signs.unwrap_or(1.0).min(mean.unwrap_or(1.0));
        if self.is_enough() { (TESTS * smaller).min(1.0) } else { 1.0 }
    }

    fn is_enough(&self) -> bool {
        self.first.len() >= LEAST_HOSTS
    }

    /// The smallest growth, as a share, that is found at this two-sided level with the power of a comparison, and
    /// the hosts that one of `sought` needs.
    pub(super) fn reach(&self, level: f64, sought: f64) -> Option<(f64, usize)> {
        let interval = self.interval(1.0 - level)?;
        let half = (interval.high / interval.value).max(interval.value / interval.low).ln();
        let quantiles = |hosts: usize| {
            let df = hosts as f64 - 1.0;
            let level = level / TESTS;
            let own = student::quantile(1.0 - level / 2.0, df);
            (own, own + student::quantile(POWER, df))
        };
        let hosts = self.first.len();
        let (own, with_power) = quantiles(hosts);
        let deviation = half / own * (hosts as f64).sqrt();
        let (mut few, mut enough) = (LEAST_HOSTS - 1, MOST_HOSTS);
        while enough - few > 1 {
            let middle = few.midpoint(enough);
            let found = quantiles(middle).1 * deviation / (middle as f64).sqrt();
            if found <= sought.ln_1p() { enough = middle } else { few = middle }
        }
        Some(((half * with_power / own).exp_m1(), enough))
    }
}

/// The level of each test.
fn each(level: f64) -> f64 {
    1.0 - (1.0 - level) / TESTS
}
