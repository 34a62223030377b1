//! Two arms in rounds of new processes, by their low ends: noise adds time and takes none away, so that the least
//! disturbed of the processes are the program alone.
//!
//! All slots (processes) of both arms are ranked together, and each has a weight that falls with its rank; the arm that
//! has less weight is slower. The test permutes the arms within rounds: without a difference either of a round's two
//! slots could have been of either arm, whatever the noise is. The ratio is that by which the second arm must be divided
//! for both to have the same weight, its interval that of the ratios that the test does not refute.
//!
//! Why weights, and not the 10 % quantile of each arm, which has the same spread: the quantile throws away all but one
//! or two slots of an arm. Simulated with two of five processes undisturbed, at a level of 0.0005: of changes by 2 % in
//! 60 rounds 78 % are found (quantile: 62 %), in 40 rounds 40 % (none).

use super::finding::Samples;
use crate::repeatable_random::Xorshift;
use crate::stats::Interval;

/// Permutations for a chance, and for one that is so small that they leave it uncertain.
const PERMUTATIONS: [usize; 2] = [20_000, 400_000];
/// So few of them as far out as what was seen leave it uncertain.
const FEW: usize = 40;
/// Permutations for each end of an interval.
const FOR_INTERVAL: usize = 4_000;
/// How exactly ratios are found (of their logarithm),
const EXACT: f64 = 2e-5;
/// and how far they are looked for.
const FARTHEST: f64 = 4.0;
/// Sums of weights differ by rounding.
const ROUNDING: f64 = 1e-9;
/// Any: the same samples must have the same chance.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// One time of each slot of two arms, round by round. Incomplete rounds at the end are left out.
#[derive(Clone, Copy, Debug)]
pub struct PermutedRounds<'a> {
    /// The one arm.
    pub first: &'a [f64],
    /// The other.
    pub second: &'a [f64],
    /// The share of all slots after which the weight has fallen to 1/e: [`LOW_END`] or [`EVENLY`].
    pub fall: f64,
}

/// Weights of the least disturbed slots.
pub const LOW_END: f64 = 0.15;
/// Weights that nearly all slots have a part in, as in Wilcoxon's test.
pub const EVENLY: f64 = 0.5;

impl Samples for PermutedRounds<'_> {
    /// Two-sided: twice the smaller one.
    fn p_value(&self) -> Option<f64> {
        Some(chance(&self.differences(0.0)?))
    }

    fn interval(&self, level: f64) -> Option<Interval> {
        let value = self.log_ratio()?;
        let tail = (1.0 - level) / 2.0 * (1 + FOR_INTERVAL) as f64;
        // What was seen is one of them.
        let most = (tail as usize).checked_sub(1)?;
        // A ratio below the interval is refuted since the second is more than that, one above it since it is less.
        let end = |side: usize, sign: f64| {
            let is_refuted = |far: f64| {
                let differences = self.differences(value + sign * far);
                differences.is_some_and(|own| is_rare(&own, FOR_INTERVAL, side, most))
            };
            let (mut near, mut far) = (0.0, 1e-3);
            while !is_refuted(far) {
                (near, far) = (far, 2.0 * far);
                if far > FARTHEST {
                    return None;
                }
            }
            while far - near > EXACT {
                let middle = (near + far) / 2.0;
                if is_refuted(middle) { far = middle } else { near = middle }
            }
            Some((value + sign * far).exp())
        };
        Some(Interval { value: value.exp(), low: end(0, -1.0)?, high: end(1, 1.0)? })
    }
}

impl PermutedRounds<'_> {
    /// The logarithm of the ratio at which both arms have the same weight.
    fn log_ratio(&self) -> Option<f64> {
        let sum = |log_ratio: f64| Some(self.differences(log_ratio)?.iter().sum::<f64>());
        let (mut low, mut high) = (-FARTHEST, FARTHEST);
        while high - low > EXACT {
            let middle = (low + high) / 2.0;
            if sum(middle)? > 0.0 { low = middle } else { high = middle }
        }
        Some((low + high) / 2.0)
    }

    /// By how much the slot of the first arm outweighs that of the second in each round, where this is divided by a
    /// ratio. `None` of fewer than two rounds, and of what is no time.
    fn differences(&self, log_ratio: f64) -> Option<Vec<f64>> {
        let rounds = self.first.len().min(self.second.len());
        let ratio = log_ratio.exp();
        let first = self.first[..rounds].iter().map(|&ns| (ns, 1.0));
        let second = self.second[..rounds].iter().map(|&ns| (ns / ratio, -1.0));
        let both = first.zip(second).enumerate();
        let mut ranked: Vec<(f64, f64, usize)> =
            both.flat_map(|(round, (a, b))| [a, b].map(|(ns, sign)| (ns, sign, round))).collect();
        if rounds < 2 || !ranked.iter().all(|&(ns, ..)| ns > 0.0 && ns.is_finite()) {
            return None;
        }
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let fall = self.fall * ranked.len() as f64;
        let mut differences = vec![0.0; rounds];
        let mut rank = 0;
        // Equal ones share their weights.
        for equal in ranked.chunk_by(|a, b| a.0 == b.0) {
            let weights = (rank..rank + equal.len()).map(|rank| (-(rank as f64) / fall).exp());
            let weight = weights.sum::<f64>() / equal.len() as f64;
            equal.iter().for_each(|&(_, sign, round)| differences[round] += sign * weight);
            rank += equal.len();
        }
        Some(differences)
    }
}

/// The chance that rounds whose slots are permuted differ by as much as seen, where each differs by so much: two-sided.
pub(crate) fn chance(differences: &[f64]) -> f64 {
    let p = |permutations: usize| {
        let beyond = beyond(differences, permutations);
        let fewer = beyond[0].min(beyond[1]);
        (fewer, (2.0 * (1 + fewer) as f64 / (1 + permutations) as f64).min(1.0))
    };
    match p(PERMUTATIONS[0]) {
        (fewer, _) if fewer < FEW => p(PERMUTATIONS[1]).1,
        (_, p) => p,
    }
}

/// Of so many permutations those in which the first outweighs the second by at least, and by at most, as much as seen.
fn beyond(differences: &[f64], permutations: usize) -> [usize; 2] {
    let seen: f64 = differences.iter().sum();
    let mut beyond = [0; 2];
    for sum in Sums::new(differences).take(permutations) {
        beyond[0] += usize::from(sum >= seen - ROUNDING);
        beyond[1] += usize::from(sum <= seen + ROUNDING);
    }
    beyond
}

/// Whether of so many permutations at most `most` are beyond what was seen, on that side.
fn is_rare(differences: &[f64], permutations: usize, side: usize, most: usize) -> bool {
    let seen: f64 = differences.iter().sum();
    let is_beyond = |sum: &f64| match side {
        0 => *sum >= seen - ROUNDING,
        _ => *sum <= seen + ROUNDING,
    };
    let sums = Sums::new(differences).take(permutations);
    // One more decides it.
    sums.filter(is_beyond).take(most + 1).count() <= most
}

/// Rounds whose sums are looked up together,
const TOGETHER: usize = 8;
/// and the ways to permute these.
const WAYS: usize = 1 << TOGETHER;

/// The sums of the differences in one random permutation after the other, without end.
struct Sums {
    /// Those of each [`TOGETHER`] rounds, by the bits that permute them.
    parts: Vec<[f64; WAYS]>,
    random: Xorshift,
}

impl Sums {
    fn new(differences: &[f64]) -> Sums {
        let of = |rounds: &[f64]| {
            let mut sums = [0.0; WAYS];
            for (signs, sum) in sums.iter_mut().enumerate() {
                for (round, difference) in rounds.iter().enumerate() {
                    *sum += if (signs >> round) & 1 == 0 { *difference } else { -difference };
                }
            }
            sums
        };
        Sums { parts: differences.chunks(TOGETHER).map(of).collect(), random: Xorshift(SEED) }
    }
}

impl Iterator for Sums {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let mut sum = 0.0;
        for parts in self.parts.chunks(64 / TOGETHER) {
            let mut signs = self.random.next();
            for part in parts {
                sum += part[signs as usize % WAYS];
                signs >>= TOGETHER;
            }
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::finding::{Correction, Verdict, judge};
    use crate::synthetic::slots::SlotNoise;

    fn low_end<'a>(first: &'a [f64], second: &'a [f64]) -> PermutedRounds<'a> {
        PermutedRounds { first, second, fall: LOW_END }
    }

    #[test]
    fn the_ratio_is_that_of_the_low_ends() {
        let first = [105.0, 100.0, 190.0, 101.0, 170.0, 100.5, 102.0, 130.0, 100.2, 100.1];
        let second: Vec<f64> = first.iter().rev().map(|ns| ns * 1.5).collect();
        let ratio = low_end(&first, &second).log_ratio().expect("ten").exp();
        assert!((ratio - 1.5).abs() < 0.01, "{ratio}");
        // One that was disturbed more changes nothing.
        let slower: Vec<f64> =
            second.iter().map(|&ns| if ns > 250.0 { 9.0 * ns } else { ns }).collect();
        let other = low_end(&first, &slower).log_ratio().expect("ten").exp();
        assert!((other - ratio).abs() < 0.01, "{other}");
    }

    #[test]
    fn the_chance_is_that_of_all_permutations() {
        // Of eight rounds all 256 can be counted: these are as far apart as they can be, as two of them are.
        let first = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let second = first.map(|ns| ns + 10.0);
        let p = low_end(&first, &second).p_value().expect("eight");
        assert!((p - 2.0 / 256.0).abs() < 0.003, "{p}");
        // Bit for bit, every time; and the same the other way round.
        assert_eq!(low_end(&first, &second).p_value(), Some(p));
        let back = low_end(&second, &first).p_value().expect("eight");
        assert!((p - back).abs() < 0.003, "{p} {back}");
        // What is the same has no order.
        assert_eq!(low_end(&first, &first).p_value(), Some(1.0));
        assert_eq!(low_end(&[1.0], &[2.0]).p_value(), None);
        assert_eq!(low_end(&[1.0, 0.0], &[2.0, 2.0]).p_value(), None);
        assert_eq!(
            low_end(&first[..4], &second[..4]).interval(0.99),
            None,
            "too few to refute any"
        );
    }

    #[test]
    fn sums_are_those_of_the_rounds_one_by_one() {
        let mut noise = SlotNoise::of_shared_machine(3);
        for rounds in [2, 7, 8, 9, 60, 64, 65, 130] {
            let slots: Vec<[f64; 2]> =
                (0..rounds).map(|_| [0.0; 2].map(|_| noise.slot_ns(1000.0))).collect();
            let (first, second): (Vec<f64>, Vec<f64>) = slots.iter().map(|[a, b]| (*a, *b)).unzip();
            let differences = low_end(&first, &second).differences(0.0).expect("times");
            let mut random = Xorshift(SEED);
            let (mut ways, seen) = ([0; 2], differences.iter().sum::<f64>());
            for sum in Sums::new(&differences).take(1000) {
                let mut one_by_one = 0.0;
                for block in differences.chunks(64) {
                    let signs = random.next();
                    for (round, difference) in block.iter().enumerate() {
                        one_by_one +=
                            if (signs >> round) & 1 == 0 { *difference } else { -difference };
                    }
                }
                assert!((sum - one_by_one).abs() < ROUNDING / 100.0, "{sum} {one_by_one}");
                ways[0] += usize::from(one_by_one >= seen - ROUNDING);
                ways[1] += usize::from(one_by_one <= seen + ROUNDING);
            }
            assert_eq!(beyond(&differences, 1000), ways);
            for (side, beyond) in ways.into_iter().enumerate() {
                for (most, is_so) in [(beyond, true), (beyond.saturating_sub(1), beyond == 0)] {
                    assert_eq!(is_rare(&differences, 1000, side, most), is_so, "{rounds}");
                }
            }
        }
    }

    /// How many of so many experiments call the second arm different at this level, and how many intervals miss its
    /// ratio.
    fn called(rounds: usize, change: f64, level: f64, experiments: u64) -> [usize; 2] {
        let mut called = [0; 2];
        for seed in 1..=experiments {
            let mut noise = SlotNoise::of_shared_machine(seed);
            let slots =
                (0..rounds).map(|_| (noise.slot_ns(1000.0), noise.slot_ns(1000.0 * change)));
            let (first, second): (Vec<f64>, Vec<f64>) = slots.unzip();
            let finding = judge([&low_end(&first, &second)], Correction::Holm(level), None)[0];
            called[0] += usize::from(finding.verdict == Verdict::Different);
            let interval = finding.ratio.expect("enough rounds");
            called[1] += usize::from(interval.low > change || interval.high < change);
        }
        called
    }

    #[test]
    fn nothing_is_found_where_nothing_changed() {
        // At 5 % ten of 200 are expected; twenty-two are one in a thousand.
        let [found, missed] = called(40, 1.0, 0.05, 200);
        assert!(found < 22 && missed < 22, "{found} {missed}");
    }

    #[test]
    fn two_and_five_percent_are_found() {
        let of = |rounds, change| called(rounds, change, 0.0005, 60)[0];
        let found = [of(40, 1.05), of(60, 1.02)];
        assert!(found[0] >= 54 && found[1] >= 54, "{found:?}");
    }
}
