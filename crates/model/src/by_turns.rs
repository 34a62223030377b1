//! Two things measured by turns, round by round: the ratio of the one to the
//! other, and what may be said of it.
//!
//! Each round gives one ratio; the figure is their median, the interval that
//! of the median by order statistics (the sign test turned round). What both
//! of a round met alike (a slow stretch of the machine, a neighbour) cancels
//! in its ratio, and nothing is assumed of how the costs are distributed.
//! Simulated (`tests/by_turns.rs`): it covers the true ratio in 94 to 99 % of
//! the runs under skewed noise, drift, sticky two states and outliers, where a
//! bootstrap of the ratio of the two medians is up to ten times as wide, since
//! it does not see that both were slow together.

use crate::compare::finding::Finding;
use crate::stats::{self, Interval};

/// The ratio of the second to the first, of so many comparisons of one row that
/// are told together: the level of each is 1 - 0.05 / comparisons (Bonferroni),
/// so that with no difference anywhere one row in twenty, of all commands
/// together, calls something different. Other rows have the same level, each by
/// itself.
/// Incomplete rounds at the end are left out. `None` where there are too few
/// rounds for an interval, or a cost of 0.
pub fn ratio(first: &[f64], second: &[f64], comparisons: usize) -> Option<Interval> {
    let ratios: Option<Vec<f64>> = first
        .iter()
        .zip(second)
        .map(|(&a, &b)| (a > 0.0 && b > 0.0).then_some(b / a))
        .collect();
    let level = 1.0 - 0.05 / comparisons.max(1) as f64;
    stats::quantile_interval_sorted_at(&stats::sorted(ratios?), 0.5, level)
}

/// The word for a ratio: the same only where the whole interval stays within
/// `margin`, a share of the one or the other. Different may be less than that:
/// what is sure is told.
pub fn word(ratio: Option<&Interval>, margin: f64) -> Finding {
    match ratio {
        None => Finding::CannotTell,
        Some(r) if r.low > 1.0 || r.high < 1.0 => Finding::Different,
        Some(r) if r.low >= 1.0 / (1.0 + margin) && r.high <= 1.0 + margin => {
            Finding::SameWithinNoise
        }
        Some(_) => Finding::CannotTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, value: f64, high: f64) -> Interval {
        Interval { value, low, high }
    }

    #[test]
    fn the_words_follow_the_interval() {
        let said = |low, high| word(Some(&interval(low, 1.0, high)), 0.05);
        assert_eq!(said(0.99, 1.02), Finding::SameWithinNoise);
        assert_eq!(said(0.90, 1.02), Finding::CannotTell);
        assert_eq!(said(0.99, 1.06), Finding::CannotTell);
        assert_eq!(said(1.01, 1.02), Finding::Different);
        assert_eq!(said(0.80, 0.99), Finding::Different);
        assert_eq!(said(0.80, 1.0), Finding::CannotTell, "1 itself is held");
        assert_eq!(word(None, 0.05), Finding::CannotTell);
    }

    #[test]
    fn rounds_are_paired() {
        // Each round at another speed of the machine; the second always takes
        // a tenth more.
        let first: Vec<f64> = (1..=12).map(|k| f64::from(k) * 10.0).collect();
        let second: Vec<f64> = first.iter().map(|v| v * 1.1).collect();
        let r = ratio(&first, &second, 1).expect("twelve rounds");
        assert!((r.low - 1.1).abs() < 1e-9 && (r.high - 1.1).abs() < 1e-9);
        // A round that was broken off counts for nobody.
        let r = ratio(&first, &second[..11], 1).expect("eleven");
        assert!((r.value - 1.1).abs() < 1e-9);
        assert_eq!(ratio(&first[..5], &second[..5], 1), None, "too few");
        assert_eq!(ratio(&[0.0; 12], &second, 1), None, "nothing to divide by");
    }

    #[test]
    fn more_comparisons_make_each_more_careful() {
        let first = vec![1.0; 30];
        let second: Vec<f64> = (0..30).map(|k| 1.0 + f64::from(k) * 0.01).collect();
        let one = ratio(&first, &second, 1).expect("thirty");
        let five = ratio(&first, &second, 5).expect("thirty");
        assert!(five.low < one.low && five.high > one.high);
    }
}
