//! Whether one thing spreads more than another that was measured by turns
//! with it.
//!
//! The spread is the mean absolute deviation of the values' logarithms from
//! the median of these: near 0.1 where values lie 10 % from their median. Its
//! ratio is tested as Brown and Forsythe do (J. Am. Stat. Assoc. 69, 1974,
//! 364-367: deviations from the median, whatever the distribution), but by
//! exchanging the two deviations of a round instead of by tables (a paired
//! permutation test: where the two are alike, either could have been the
//! other's). The interval holds every ratio that this test does not refuse.

use crate::bits::Bits;
use crate::stats::{self, Interval};

/// Exchanges up to this many rounds are tried in all ways; with more rounds
/// as many random ones.
const ALL_WAYS_UP_TO: usize = 16;
/// Halvings of the range in which an end of the interval is looked for: the
/// last one is far below the digits that are shown.
const HALVINGS: u32 = 16;
/// Ratios are looked for up to this factor to both sides.
const REACH: f64 = 1e3;

/// Deviations of two things, round by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreads {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Spreads {
    /// Of two things measured by turns; incomplete rounds at the end are left
    /// out. `None` for a value that has no logarithm, or fewer than three
    /// rounds.
    pub fn of(first: &[f64], second: &[f64]) -> Option<Spreads> {
        let rounds = first.len().min(second.len());
        (rounds >= 3).then_some(())?;
        Some(Spreads {
            first: deviations(&first[..rounds])?,
            second: deviations(&second[..rounds])?,
        })
    }

    /// The second's spread over the first's; `None` where one has none.
    pub fn ratio(&self) -> Option<f64> {
        let [first, second] = [&self.first, &self.second].map(|d| d.iter().sum::<f64>());
        (first > 0.0 && second > 0.0).then(|| second / first)
    }

    /// How likely spreads so different are where they are the same.
    pub fn p_value(&self) -> f64 {
        self.p_value_of(1.0)
    }

    /// The ratio with all the ratios that are not refused at `1 - level`.
    /// `None` where there are too few rounds to refuse any.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        let value = self.ratio()?;
        let refused = |ratio: f64| self.p_value_of(ratio) <= 1.0 - level;
        let end = |reach: f64| -> Option<f64> {
            let (mut held, mut out) = (value.ln(), (value * reach).ln());
            refused(out.exp()).then_some(())?;
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(held, out);
                match refused(middle.exp()) {
                    true => out = middle,
                    false => held = middle,
                }
            }
            Some(out.exp())
        };
        Some(Interval {
            value,
            low: end(1.0 / REACH)?,
            high: end(REACH)?,
        })
    }

    /// How likely this is where the second spreads `ratio` times as much:
    /// the share of all exchanges that lie as far from even as what was seen.
    fn p_value_of(&self, ratio: f64) -> f64 {
        let differences: Vec<f64> = self
            .first
            .iter()
            .zip(&self.second)
            .map(|(first, second)| second / ratio - first)
            .collect();
        exchanged(&differences)
    }
}

/// The share of all exchanges within rounds whose sum of differences lies as
/// far from 0 as what was seen. There must be a round.
pub(super) fn exchanged(differences: &[f64]) -> f64 {
    let seen = differences.iter().sum::<f64>().abs();
    let size: f64 = differences.iter().map(|d| d.abs()).sum();
    // Sums of the same numbers in another order may be off a little.
    let as_far = |sum: f64| sum.abs() >= seen - 1e-12 * size;
    match differences.len() {
        n if n <= ALL_WAYS_UP_TO => all_ways(differences, as_far),
        _ => random_ways(differences, as_far),
    }
}

/// Share of all exchanges, each and its opposite counted once.
fn all_ways(differences: &[f64], as_far: impl Fn(f64) -> bool) -> f64 {
    let ways = 1_u32 << (differences.len() - 1);
    let mut sum: f64 = differences.iter().sum();
    let mut exchanged = vec![false; differences.len()];
    let mut count = u32::from(as_far(sum));
    for way in 1..ways {
        // Gray's code: one more exchange at a time.
        let at = way.trailing_zeros() as usize;
        sum += match exchanged[at] {
            true => 2.0 * differences[at],
            false => -2.0 * differences[at],
        };
        exchanged[at] = !exchanged[at];
        count += u32::from(as_far(sum));
    }
    f64::from(count) / f64::from(ways)
}

/// Share of random exchanges, always the same ones; what was seen counts as
/// one of them (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010, 39).
fn random_ways(differences: &[f64], as_far: impl Fn(f64) -> bool) -> f64 {
    const WAYS: u32 = 1 << (ALL_WAYS_UP_TO - 1);
    let mut bits = Bits(0x9e37_79b9_7f4a_7c15);
    let mut count = 1_u32;
    for _ in 1..WAYS {
        let mut sum = 0.0;
        for part in differences.chunks(64) {
            let mut signs = bits.next();
            for difference in part {
                sum += match signs & 1 {
                    1 => *difference,
                    _ => -difference,
                };
                signs >>= 1;
            }
        }
        count += u32::from(as_far(sum));
    }
    f64::from(count) / f64::from(WAYS)
}

/// How far the logarithms lie from their median.
fn deviations(values: &[f64]) -> Option<Vec<f64>> {
    let logarithms: Option<Vec<f64>> = values
        .iter()
        .map(|&v| (v > 0.0 && v.is_finite()).then(|| v.ln()))
        .collect();
    let logarithms = logarithms?;
    let middle = stats::median(logarithms.iter().copied())?;
    Some(logarithms.iter().map(|l| (l - middle).abs()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values whose logarithms lie so far from 3.
    fn values(deviations: &[f64]) -> Vec<f64> {
        deviations.iter().map(|d| (3.0 + d).exp()).collect()
    }

    #[test]
    fn a_small_case_by_hand() {
        // Deviations 1, 0, 1 and 3, 0, 2: differences 2, 0, 1. Of eight
        // exchanges those with 2 and 1 on one side are as far: four.
        let spreads = Spreads::of(&values(&[-1.0, 0.0, 1.0]), &values(&[3.0, 0.0, -2.0]));
        let spreads = spreads.expect("three rounds");
        assert!((spreads.ratio().expect("both spread") - 2.5).abs() < 1e-12);
        assert!((spreads.p_value() - 0.5).abs() < 1e-12);
        assert_eq!(spreads.interval(0.95), None, "three rounds refuse nothing");
    }

    #[test]
    fn a_scale_is_no_spread() {
        let first = values(&[-0.1, 0.05, 0.0, 0.2, -0.3, 0.1, 0.02, -0.04]);
        let second: Vec<f64> = first.iter().map(|v| v * 7.0).collect();
        let spreads = Spreads::of(&first, &second).expect("eight");
        assert!((spreads.ratio().expect("both") - 1.0).abs() < 1e-9);
        assert!(spreads.p_value() > 0.99);
    }

    #[test]
    fn the_interval_holds_what_is_not_refused() {
        let first = values(&[
            -0.10, 0.05, 0.01, 0.2, -0.3, 0.1, 0.02, -0.04, 0.12, -0.15, 0.3, -0.2,
        ]);
        let tenfold = |k: usize| (first[k].ln() - 3.0) * 10.0;
        let second = values(&[
            tenfold(3),
            tenfold(0),
            tenfold(1),
            tenfold(2),
            tenfold(5),
            tenfold(4),
            tenfold(7),
            tenfold(6),
            tenfold(9),
            tenfold(8),
            tenfold(11),
            tenfold(10),
        ]);
        let spreads = Spreads::of(&first, &second).expect("twelve");
        let interval = spreads.interval(0.95).expect("enough");
        assert!(interval.low > 1.0 && interval.low < 10.0, "{interval:?}");
        assert!(interval.high > 10.0, "{interval:?}");
        assert!(spreads.p_value() <= 0.05);
        for (ratio, held) in [
            (interval.low * 1.01, true),
            (interval.low * 0.99, false),
            (interval.high * 0.99, true),
            (interval.high * 1.01, false),
        ] {
            assert_eq!(spreads.p_value_of(ratio) > 0.05, held, "{ratio}");
        }
        let turned = Spreads::of(&second, &first).expect("twelve");
        let back = turned.interval(0.95).expect("enough");
        assert!((back.low * interval.high - 1.0).abs() < 0.01, "{back:?}");
    }

    #[test]
    fn random_exchanges_agree_with_all() {
        let sixteen: Vec<f64> = (0..16).map(|k| f64::from(k * 7 % 16) - 6.0).collect();
        let all = all_ways(&sixteen, |sum| sum.abs() >= 24.0);
        let random = random_ways(&sixteen, |sum| sum.abs() >= 24.0);
        assert!(all > 0.2 && (all - random).abs() < 0.02, "{all} {random}");
    }

    #[test]
    fn what_has_no_spread_has_no_ratio() {
        let still = Spreads::of(&[2.0; 9], &[3.0; 9]).expect("nine");
        assert_eq!((still.ratio(), still.p_value()), (None, 1.0));
        assert_eq!(Spreads::of(&[1.0, 2.0, 0.0], &[1.0; 3]), None);
        assert_eq!(Spreads::of(&[1.0; 2], &[1.0; 2]), None);
    }
}
