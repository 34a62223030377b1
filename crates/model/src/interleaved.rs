//! Two things measured interleaved, round by round: the ratio of the one to the
//! other, and what may be said of it.
//!
//! Each round gives one ratio; the figure is their median, the interval that
//! of the median by order statistics (the sign test turned round). What both
//! of a round met alike (a slow stretch of the machine, a neighbour) cancels
//! in its ratio, and nothing is assumed of how the costs are distributed.
//! Simulated (`tests/interleaved.rs`): it covers the true ratio in 94 to 99 % of
//! the runs under skewed noise, drift, sticky two states and outliers, where a
//! bootstrap of the ratio of the two medians is up to ten times as wide, since
//! it does not see that both were slow together.

use crate::compare::finding::{Correction, Finding, LEVEL, Samples, judge};
use crate::stats::{self, Interval};

/// Costs of two things, round by round. Incomplete rounds at the end are left out.
#[derive(Clone, Copy, Debug)]
pub struct Rounds<'a>(pub &'a [f64], pub &'a [f64]);

impl Samples for Rounds<'_> {
    /// The two-sided sign test whose turning round is the interval, so
    /// that this is at most 1 - level exactly where that interval does not hold 1.
    /// `None` without a round, or for a cost of 0.
    fn p_value(&self) -> Option<f64> {
        let ratios = self.ratios()?;
        let n = ratios.len();
        let below = ratios.iter().filter(|&&r| r < 1.0).count();
        let above = ratios.iter().filter(|&&r| r > 1.0).count();
        // A round without a difference speaks against one.
        let against = n - below.max(above);
        let (mut sum, mut log_p) = (0.0, -(n as f64) * 2.0_f64.ln());
        for k in 0..=against {
            sum += log_p.exp();
            log_p += ((n - k) as f64 / (k + 1) as f64).ln();
        }
        (n > 0).then(|| (2.0 * sum).min(1.0))
    }

    fn interval(&self, level: f64) -> Option<Interval> {
        let ratios = stats::sorted(self.ratios()?);
        stats::quantile_interval_sorted_at(&ratios, 0.5, level)
    }
}

impl Rounds<'_> {
    /// One for each whole round.
    pub(crate) fn ratios(&self) -> Option<Vec<f64>> {
        let both = self.0.iter().zip(self.1);
        both.map(|(&a, &b)| (a > 0.0 && b > 0.0).then_some(b / a)).collect()
    }
}

/// The ratio of the second to the first, of so many comparisons of one row that
/// are judged together: the level of each is 1 - 0.05 / comparisons (Bonferroni),
/// so that with no difference anywhere one row in twenty, of all commands
/// together, calls something different. Other rows have the same level, each by
/// itself. `None` where there are too few
/// rounds for an interval, or a cost of 0.
pub fn interleaved_ratio(first: &[f64], second: &[f64], comparisons: usize) -> Option<Interval> {
    Rounds(first, second).interval(1.0 - LEVEL / comparisons.max(1) as f64)
}

/// What may be said of that ratio: the same only where the whole interval stays within
/// `margin`, a share of the one or the other. Different may be less than that:
/// what is significant is reported.
pub fn finding(first: &[f64], second: &[f64], comparisons: usize, margin: f64) -> Finding {
    judge([&Rounds(first, second)], Correction::Bonferroni(comparisons), Some(margin))[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::finding::{SummarizedSamples, Verdict};

    #[test]
    fn the_words_follow_the_interval() {
        let of = |interval| {
            judge([&SummarizedSamples(None, interval)], Correction::Bonferroni(1), Some(0.05))[0]
                .verdict
        };
        let said = |low, high| of(Some(Interval { value: 1.0, low, high }));
        assert_eq!(said(0.99, 1.02), Verdict::SameWithinNoise);
        assert_eq!(said(0.90, 1.02), Verdict::CannotTell);
        assert_eq!(said(0.99, 1.06), Verdict::CannotTell);
        assert_eq!(said(1.01, 1.02), Verdict::Different);
        assert_eq!(said(0.80, 0.99), Verdict::Different);
        assert_eq!(said(0.80, 1.0), Verdict::CannotTell, "1 itself is held");
        assert_eq!(of(None), Verdict::CannotTell);
    }

    #[test]
    fn rounds_are_paired() {
        // Each round at another speed of the machine; the second always takes
        // a tenth more.
        let first: Vec<f64> = (1..=12).map(|k| f64::from(k) * 10.0).collect();
        let second: Vec<f64> = first.iter().map(|v| v * 1.1).collect();
        let r = interleaved_ratio(&first, &second, 1).expect("twelve rounds");
        assert!((r.low - 1.1).abs() < 1e-9 && (r.high - 1.1).abs() < 1e-9);
        // A round that was broken off does not count.
        let r = interleaved_ratio(&first, &second[..11], 1).expect("eleven");
        assert!((r.value - 1.1).abs() < 1e-9);
        assert_eq!(interleaved_ratio(&first[..5], &second[..5], 1), None, "too few");
        assert_eq!(interleaved_ratio(&[0.0; 12], &second, 1), None, "nothing to divide by");
    }

    #[test]
    fn the_sign_test_and_the_interval_say_the_same() {
        // Ten of twelve above 1: 2 (1 + 12 + 66) / 4096.
        let first = vec![1.0; 12];
        let of = |above: usize, equal: usize| -> Vec<f64> {
            let at = |k| match k {
                k if k < above => 1.1 + k as f64 / 100.0,
                k if k < above + equal => 1.0,
                k => 0.9 - k as f64 / 100.0,
            };
            (0..12).map(at).collect()
        };
        let p = |second: &[f64]| Rounds(&first, second).p_value().expect("twelve rounds");
        assert!((p(&of(10, 0)) - 158.0 / 4096.0).abs() < 1e-12);
        assert_eq!(p(&of(10, 0)), p(&of(10, 2)), "no difference is against one");
        assert!(p(&of(6, 0)) == 1.0);
        for above in 0..=12 {
            for level in [0.5, 0.9, 0.95, 0.99, 0.999] {
                let second = of(above, 0);
                let interval = Rounds(&first, &second).interval(level).expect("wide enough");
                let excluded = interval.low > 1.0 || interval.high < 1.0;
                assert_eq!(excluded, p(&second) <= 1.0 - level, "{above} {level}");
            }
        }
        assert_eq!(Rounds(&[], &[]).p_value(), None);
        assert_eq!(Rounds(&[0.0], &[1.0]).p_value(), None);
    }

    #[test]
    fn more_comparisons_make_each_more_careful() {
        let first = vec![1.0; 30];
        let second: Vec<f64> = (0..30).map(|k| 1.0 + f64::from(k) * 0.01).collect();
        let one = interleaved_ratio(&first, &second, 1).expect("thirty");
        let five = interleaved_ratio(&first, &second, 5).expect("thirty");
        assert!(five.low < one.low && five.high > one.high);
    }
}
