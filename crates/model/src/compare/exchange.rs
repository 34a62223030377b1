//! Whether one thing is larger than another that was measured interleaved with
//! it, by exchanging the two values of a round: where the two are alike, either
//! could have been the other's (a paired permutation test). The interval holds
//! every value that this test does not refuse.
//!
//! Of spreads the value is a ratio. The spread is the mean absolute deviation of
//! the values' logarithms from the median of these: near 0.1 where values lie
//! 10 % from their median. It is tested as Brown and Forsythe do (J. Am. Stat.
//! Assoc. 69, 1974, 364-367: deviations from the median, whatever the
//! distribution), but by exchanges instead of by tables.
//!
//! Of counts (context switches, migrations), which may be 0 in most runs, it is
//! the difference of the means.

use super::finding::Samples;
use crate::repeatable_random::Xorshift;
use crate::stats::{self, Interval};

/// Exchanges up to this many rounds are tried in all ways; with more rounds
/// as many random ones.
const ALL_WAYS_UP_TO: usize = 16;
/// Ratios are looked for up to this factor to both sides.
const REACH: f64 = 1e3;

/// Values of two things, round by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    first: Vec<f64>,
    second: Vec<f64>,
    compared: Compared,
}

/// How the second is compared with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    /// Sum over sum.
    Ratio,
    /// Mean less mean.
    Difference,
}

impl Exchange {
    /// Of how much two things spread; incomplete rounds at the end are left
    /// out. `None` for a value that has no logarithm, or fewer than three
    /// rounds.
    pub fn of_spreads(first: &[f64], second: &[f64]) -> Option<Exchange> {
        let rounds = first.len().min(second.len());
        (rounds >= 3).then_some(())?;
        Some(Exchange {
            first: deviations(&first[..rounds])?,
            second: deviations(&second[..rounds])?,
            compared: Compared::Ratio,
        })
    }

    /// Of how often something happened; incomplete rounds at the end are left
    /// out. `None` where one run has no count.
    pub fn of_counts(
        first: impl ExactSizeIterator<Item = Option<u64>>,
        second: impl ExactSizeIterator<Item = Option<u64>>,
    ) -> Option<Exchange> {
        let rounds = first.len().min(second.len());
        let exact = |count: Option<u64>| count.map(|n| n as f64);
        Some(Exchange {
            first: first.take(rounds).map(exact).collect::<Option<_>>()?,
            second: second.take(rounds).map(exact).collect::<Option<_>>()?,
            compared: Compared::Difference,
        })
    }

    /// The means of the first and the second.
    pub fn means(&self) -> [Option<f64>; 2] {
        [stats::mean(&self.first), stats::mean(&self.second)]
    }

    /// The ratio or the difference; `None` without rounds, or where one has no
    /// spread.
    pub fn value(&self) -> Option<f64> {
        match self.compared {
            Compared::Ratio => {
                let [first, second] = [&self.first, &self.second].map(|d| d.iter().sum::<f64>());
                (first > 0.0 && second > 0.0).then(|| second / first)
            }
            Compared::Difference => stats::mean(&self.beyond(0.0)),
        }
    }

    /// How likely this is where the value is `supposed`: the share of all
    /// exchanges that lie as far from even as what was seen.
    fn p_value_of(&self, supposed: f64) -> f64 {
        exchanged(&self.beyond(supposed))
    }

    /// How far the second lies beyond what it would be, round by round.
    fn beyond(&self, supposed: f64) -> Vec<f64> {
        let rounds = self.first.iter().zip(&self.second);
        rounds
            .map(|(first, second)| match self.compared {
                Compared::Ratio => second / supposed - first,
                Compared::Difference => second - first - supposed,
            })
            .collect()
    }
}

impl Samples for Exchange {
    fn unchanged(&self) -> f64 {
        match self.compared {
            Compared::Ratio => 1.0,
            Compared::Difference => 0.0,
        }
    }

    /// How likely values so different are where the two are alike. `None`
    /// without a round.
    fn p_value(&self) -> Option<f64> {
        (!self.first.is_empty()).then(|| self.p_value_of(self.unchanged()))
    }

    /// The value with all those that are not refused at `1 - level`. `None`
    /// where there are too few rounds to refuse any.
    fn interval(&self, level: f64) -> Option<Interval> {
        let value = self.value()?;
        // Ratios are halved on a scale of logarithms. The last halving is far
        // below the digits that are shown.
        let (at, reach, halvings): (fn(f64) -> f64, f64, u32) = match self.compared {
            Compared::Ratio => (f64::exp, REACH.ln(), 16),
            Compared::Difference => {
                // Beyond twice the largest all differences have one sign.
                let largest = self.beyond(0.0).iter().fold(0.0_f64, |m, d| m.max(d.abs()));
                (|x| x, 2.0 * largest + 1.0, 14)
            }
        };
        let begin = match self.compared {
            Compared::Ratio => value.ln(),
            Compared::Difference => value,
        };
        let refused = |x: f64| self.p_value_of(at(x)) <= 1.0 - level;
        let end = |reach: f64| -> Option<f64> {
            let (mut held, mut out) = (begin, begin + reach);
            refused(out).then_some(())?;
            for _ in 0..halvings {
                let middle = f64::midpoint(held, out);
                if refused(middle) { out = middle } else { held = middle }
            }
            Some(at(out))
        };
        Some(Interval { value, low: end(-reach)?, high: end(reach)? })
    }
}

/// The share of all exchanges within rounds whose sum of differences lies as
/// far from 0 as what was seen. There must be a round.
fn exchanged(differences: &[f64]) -> f64 {
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
        sum += if exchanged[at] { 2.0 * differences[at] } else { -2.0 * differences[at] };
        exchanged[at] = !exchanged[at];
        count += u32::from(as_far(sum));
    }
    f64::from(count) / f64::from(ways)
}

/// Share of random exchanges, always the same ones; what was seen counts as
/// one of them (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010, 39).
fn random_ways(differences: &[f64], as_far: impl Fn(f64) -> bool) -> f64 {
    const WAYS: u32 = 1 << (ALL_WAYS_UP_TO - 1);
    let mut bits = Xorshift(0x9e37_79b9_7f4a_7c15);
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
    let logarithms: Option<Vec<f64>> =
        values.iter().map(|&v| (v > 0.0 && v.is_finite()).then(|| v.ln())).collect();
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

    fn count_exchange(first: &[u64], second: &[u64]) -> Exchange {
        let some = |n: &u64| Some(*n);
        Exchange::of_counts(first.iter().map(some), second.iter().map(some)).expect("counted")
    }

    #[test]
    fn a_small_case_by_hand() {
        // Deviations 1, 0, 1 and 3, 0, 2: differences 2, 0, 1. Of eight
        // exchanges those with 2 and 1 on one side are as far: four.
        let (first, second) = (values(&[-1.0, 0.0, 1.0]), values(&[3.0, 0.0, -2.0]));
        let spreads = Exchange::of_spreads(&first, &second).expect("three rounds");
        assert!((spreads.value().expect("both spread") - 2.5).abs() < 1e-12);
        assert!((spreads.p_value().expect("rounds") - 0.5).abs() < 1e-12);
        assert_eq!(spreads.interval(0.95), None, "three rounds refuse nothing");
        // Of counts: differences 4, 5, 6, all on one side: two of eight.
        let few = count_exchange(&[5, 6, 7], &[1, 1, 1]);
        assert_eq!((few.value(), few.p_value()), (Some(-5.0), Some(0.25)));
        assert_eq!(few.interval(0.95), None);
    }

    #[test]
    fn a_scale_is_no_spread() {
        let first = values(&[-0.1, 0.05, 0.0, 0.2, -0.3, 0.1, 0.02, -0.04]);
        let second: Vec<f64> = first.iter().map(|v| v * 7.0).collect();
        let spreads = Exchange::of_spreads(&first, &second).expect("eight");
        assert!((spreads.value().expect("both") - 1.0).abs() < 1e-9);
        assert!(spreads.p_value() > Some(0.99));
    }

    #[test]
    fn the_interval_holds_what_is_not_refused() {
        let small = [-0.10, 0.05, 0.01, 0.2, -0.3, 0.1, 0.02, -0.04, 0.12, -0.15, 0.3, -0.2];
        let tenfold = [3, 0, 1, 2, 5, 4, 7, 6, 9, 8, 11, 10].map(|k: usize| small[k] * 10.0);
        let (first, second) = (values(&small), values(&tenfold));
        let spreads = Exchange::of_spreads(&first, &second).expect("twelve");
        let ratio = spreads.interval(0.95).expect("enough");
        assert!(ratio.low > 1.0 && ratio.low < 10.0 && ratio.high > 10.0, "{ratio:?}");
        let turned = Exchange::of_spreads(&second, &first).expect("twelve");
        let back = turned.interval(0.95).expect("enough");
        assert!((back.low * ratio.high - 1.0).abs() < 0.01, "{back:?}");
        // As in the appendix of perf-book: some 151 switches, then 102.
        let switches = count_exchange(
            &[151, 140, 155, 149, 160, 152, 148, 151, 150, 147],
            &[102, 99, 101, 103, 98, 105, 102, 100, 104, 101],
        );
        let fewer = switches.interval(0.95).expect("ten rounds");
        assert!((fewer.value + 48.8).abs() < 1e-9, "{fewer:?}");
        assert!(fewer.low < -48.8 && (-48.8..-40.0).contains(&fewer.high));
        for (exchange, interval, off) in [(spreads, ratio, 0.01), (switches, fewer, 0.01)] {
            assert!(exchange.p_value() <= Some(0.05));
            let Interval { low, high, .. } = interval;
            let inward = off * (high - low);
            for (value, held) in [
                (low + inward, true),
                (low - inward, false),
                (high - inward, true),
                (high + inward, false),
            ] {
                assert_eq!(exchange.p_value_of(value) > 0.05, held, "{value}");
            }
        }
    }

    #[test]
    fn random_exchanges_agree_with_all() {
        let sixteen: Vec<f64> = (0..16).map(|k| f64::from(k * 7 % 16) - 6.0).collect();
        let all = all_ways(&sixteen, |sum| sum.abs() >= 24.0);
        let random = random_ways(&sixteen, |sum| sum.abs() >= 24.0);
        assert!(all > 0.2 && (all - random).abs() < 0.02, "{all} {random}");
    }

    #[test]
    fn what_does_not_vary_or_is_not_counted() {
        let still = Exchange::of_spreads(&[2.0; 9], &[3.0; 9]).expect("nine");
        assert_eq!((still.value(), still.p_value()), (None, Some(1.0)));
        assert_eq!(Exchange::of_spreads(&[1.0, 2.0, 0.0], &[1.0; 3]), None);
        assert_eq!(Exchange::of_spreads(&[1.0; 2], &[1.0; 2]), None);
        let none = count_exchange(&[0; 10], &[0; 10]);
        assert_eq!((none.value(), none.p_value()), (Some(0.0), Some(1.0)));
        assert_eq!(none.means(), [Some(0.0); 2]);
        let not_counted = || [Some(1), None].into_iter();
        assert_eq!(Exchange::of_counts(not_counted(), not_counted()), None);
    }
}
