//! Interleaved rounds that end as soon as the answer is known.
//!
//! An interval that is looked at after every round excludes 1 by luck far more often than in 5 % of cases. So
//! these rounds are judged by a confidence sequence: intervals of which *all*, from the first round on, hold the
//! true median together, so that the rounds may end at any of them. Under a median of m each ratio lies below it
//! with chance 1/2, whatever their distribution; a mixture over all other chances with Jeffreys' prior,
//! Beta(1/2, 1/2), is a martingale of expectation 1, which ever reaches 1/alpha with chance alpha at most (Ville).
//! The interval is all m for which it has not.
//!
//! Sources: D. A. Darling and H. Robbins, Proc. Natl. Acad. Sci. 61 (1968), 804-809; H. Robbins, Ann. Math. Stat. 41
//! (1970), 1397-1409; for quantiles S. R. Howard and A. Ramdas, Bernoulli 28 (2022), 1704-1728. What it costs: some
//! twice the rounds of a single look. Simulated with the stop rules in `tests/sequential.rs`.

use crate::compare::finding::{Correction, Finding, Samples, Verdict, WATCHED_LEVEL, judge};
use crate::interleaved::Rounds;
use crate::stats::{self, Interval};
use serde::{Deserialize, Serialize};

/// When interleaved rounds have answered what was asked.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Which is faster? Known when the interval of each ratio excludes 1, or lies within this share of it.
    Faster {
        /// The share.
        within: f64,
    },
    /// Does the second take longer than is allowed? Known when the interval of the judged time
    /// ([`crate::regression`]) lies to one side of that.
    Regression {
        /// How much longer it may take, as a share.
        above: f64,
        /// Rows that are judged together.
        rows: u32,
    },
}

/// Rounds that were looked at after each one.
#[derive(Clone, Copy, Debug)]
pub struct WatchedRounds<'a>(pub Rounds<'a>);

impl Samples for WatchedRounds<'_> {
    /// The inverse of the martingale at a ratio of 1.
    fn p_value(&self) -> Option<f64> {
        let ratios = self.0.ratios()?;
        let n = ratios.len();
        let below = ratios.iter().filter(|&&r| r < 1.0).count();
        let above = ratios.iter().filter(|&&r| r > 1.0).count();
        // A round without a difference speaks against one.
        let against = n - below.max(above);
        if 2 * against >= n {
            return (n > 0).then_some(1.0);
        }
        let evidence = log_evidence(n).nth(against)?;
        Some((-evidence).exp().min(1.0))
    }

    fn interval(&self, level: f64) -> Option<Interval> {
        let ratios = stats::sorted(self.0.ratios()?);
        let value = stats::quantile_sorted(&ratios, 0.5)?;
        // As many ratios on one side of a value refute it as the median.
        let enough = -(1.0 - level).ln();
        let refuting = log_evidence(ratios.len()).take(ratios.len().div_ceil(2));
        let rank = refuting.take_while(|evidence| *evidence >= enough).count().checked_sub(1)?;
        Some(Interval { value, low: ratios[rank], high: ratios[ratios.len() - 1 - rank] })
    }
}

/// Logarithms of the martingale where 0, 1, 2, ... of n ratios lie on one side: it falls up to n/2.
fn log_evidence(n: usize) -> impl Iterator<Item = f64> {
    // B(1/2, n + 1/2) / B(1/2, 1/2) times 2^n, then one factor for each that changes sides.
    let none: f64 = (1..=n).map(|j| ((2 * j - 1) as f64 / j as f64).ln()).sum();
    (0..=n).scan(none, move |evidence, k| {
        let now = *evidence;
        *evidence += ((k as f64 + 0.5) / (n as f64 - k as f64 - 0.5)).ln();
        Some(now)
    })
}

/// The ratio of the second to the first, of so many comparisons that are judged together (each at
/// [`WATCHED_LEVEL`] / comparisons). `None` where there are too few rounds for an interval, or a cost of 0.
pub fn watched_ratio(first: &[f64], second: &[f64], comparisons: usize) -> Option<Interval> {
    let level = WATCHED_LEVEL / comparisons.max(1) as f64;
    WatchedRounds(Rounds(first, second)).interval(1.0 - level)
}

/// What may be said of that ratio, as [`crate::interleaved::finding`] says it of rounds whose number was fixed.
pub fn watched_finding(first: &[f64], second: &[f64], comparisons: usize, margin: f64) -> Finding {
    let rounds = WatchedRounds(Rounds(first, second));
    judge([&rounds], Correction::Watched(comparisons), Some(margin))[0]
}

/// Whether [`Question::Faster`] is answered.
pub fn is_decided(ratio: Option<&Interval>, within: f64) -> bool {
    let alike = 1.0 / (1.0 + within)..=1.0 + within;
    ratio.is_some_and(|ratio| {
        !(ratio.low <= 1.0 && ratio.high >= 1.0)
            || Verdict::of_range(Some(ratio), alike) == Verdict::SameWithinNoise
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_evidence_is_a_martingale_under_a_fair_coin() {
        // Expected over the sides of all n ratios it is 1, for every n.
        for n in 1..=40_usize {
            let mut log_choose = -(n as f64) * 2.0_f64.ln();
            let mut mean = 0.0;
            for (k, evidence) in log_evidence(n).enumerate() {
                mean += (log_choose + evidence).exp();
                log_choose += ((n - k) as f64 / (k + 1) as f64).ln();
            }
            assert!((mean - 1.0).abs() < 1e-9, "{n}: {mean}");
        }
    }

    #[test]
    fn ten_rounds_on_one_side_are_enough_and_nine_are_not() {
        let longer = |n: usize| (vec![1.0; n], (0..n).map(|k| 1.1 + k as f64 / 100.0).collect());
        let (first, second): (Vec<f64>, Vec<f64>) = longer(10);
        let ratio = watched_ratio(&first, &second, 1).expect("ten rounds");
        assert_eq!((ratio.low, ratio.high), (second[0], second[9]));
        let p = WatchedRounds(Rounds(&first, &second)).p_value().expect("ten rounds");
        // 4^10 / C(20, 10) / 2^10.
        assert!((p - 1024.0 / 184_756.0).abs() < 1e-9, "{p}");
        let (first, second) = longer(9);
        assert_eq!(watched_ratio(&first, &second, 1), None);
        // Of 48 rows judged together sixteen.
        let (first, second) = longer(16);
        assert!(watched_ratio(&first, &second, 48).is_some());
        let (first, second) = longer(15);
        assert_eq!(watched_ratio(&first, &second, 48), None);
    }

    #[test]
    fn the_interval_excludes_what_the_evidence_refutes() {
        let first = vec![1.0; 30];
        for above in 0..=30 {
            let second: Vec<f64> = (0..30_usize)
                .map(|k| if k < above { 1.1 + k as f64 / 100.0 } else { 0.9 - k as f64 / 100.0 })
                .collect();
            let rounds = WatchedRounds(Rounds(&first, &second));
            for level in [0.9, 0.99, 0.999] {
                let interval = rounds.interval(level).expect("wide enough");
                let excluded = interval.low > 1.0 || interval.high < 1.0;
                let refuted = rounds.p_value().expect("rounds") <= 1.0 - level;
                assert_eq!(excluded, refuted, "{above} {level}");
            }
        }
        assert_eq!(WatchedRounds(Rounds(&[], &[])).p_value(), None);
        assert_eq!(WatchedRounds(Rounds(&[], &[])).interval(0.9), None);
    }

    #[test]
    fn a_question_is_answered_by_either_answer() {
        let of = |low, high| is_decided(Some(&Interval { value: 1.0, low, high }), 0.02);
        assert!(of(1.001, 1.5) && of(0.5, 0.999) && of(0.985, 1.015));
        assert!(!of(1.0, 1.5) && !of(0.97, 1.01));
        assert!(!is_decided(None, 0.02));
    }
}
