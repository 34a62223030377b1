//! The largest step that stands anywhere in a stretch of a history.

use super::{FEWEST, Past};
use crate::stats;

/// Runs count up to so many standard deviations from the middle of the
/// stretch: one odd run can't be a level (M-scores as in Hušková and Sen, in
/// *Nonparametric Statistics for Stochastic Processes*, 1989; Fearnhead and
/// Rigaill, J. Am. Stat. Assoc. 114, 2019, 169-183).
const REACH: f64 = 3.5;

/// A step somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// The first run after it.
    pub(super) at: usize,
    /// Its size over its standard error, as if runs were independent.
    pub(super) size: f64,
}

/// The largest step in the stretch `from..to`, over all places in all seeded
/// intervals of it, each split having at least [`FEWEST`] runs on both sides.
/// `factor` is the variance of runs over the assumed one. `None` where the
/// stretch is too short.
pub(super) fn largest(past: &Past, from: usize, to: usize, factor: f64) -> Option<Step> {
    let middle = stats::median(past.ln[from..to].iter().copied())?;
    // Sums before each place: of scores and of weights.
    let mut sums = Vec::with_capacity(to - from + 1);
    let (mut score, mut weight) = (0.0, 0.0);
    sums.push((score, weight));
    for at in from..to {
        let deviation = (factor * past.assumed[at]).sqrt();
        let precise = 1.0 / past.assumed[at].sqrt();
        score += precise * ((past.ln[at] - middle) / deviation).clamp(-REACH, REACH);
        weight += precise * precise;
        sums.push((score, weight));
    }
    let mut best: Option<Step> = None;
    for (start, end) in seeded(to - from) {
        for at in start + FEWEST..=end - FEWEST {
            let size = step(&sums, start, at, end);
            if best.is_none_or(|best| size > best.size) {
                best = Some(Step { at: from + at, size });
            }
        }
    }
    best
}

/// The difference of the two weighted means over its standard error.
fn step(sums: &[(f64, f64)], start: usize, at: usize, end: usize) -> f64 {
    let part = |from: usize, to: usize| (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
    let (left, left_weight) = part(start, at);
    let (right, right_weight) = part(at, end);
    let apart = (right / right_weight - left / left_weight).abs();
    apart / (1.0 / left_weight + 1.0 / right_weight).sqrt()
}

/// The whole, and overlapping parts of half the length each time, down to the
/// shortest in which a step can stand: among them is one in which a change is
/// alone (seeded binary segmentation, Kovács, Bühlmann, Li and Munk,
/// Biometrika 110, 2023, 249-256).
fn seeded(length: usize) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut parts = 1;
    loop {
        let part = length.div_ceil(parts);
        if part < 2 * FEWEST {
            return all;
        }
        let count = 2 * parts - 1;
        for number in 0..count {
            let start = match count {
                1 => 0,
                _ => (length - part) * number / (count - 1),
            };
            all.push((start, start + part));
        }
        parts *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(ln: &[f64]) -> Past {
        Past { ln: ln.to_vec(), assumed: vec![1.0; ln.len()] }
    }

    #[test]
    fn intervals_cover_everything_and_none_is_too_short() {
        assert_eq!(seeded(5), []);
        assert_eq!(seeded(6), [(0, 6)]);
        assert_eq!(seeded(12), [(0, 12), (0, 6), (3, 9), (6, 12)]);
        for length in 6..300 {
            let all = seeded(length);
            assert!(all.iter().all(|(a, b)| b - a >= 6 && *b <= length));
            for shortest in all.windows(2) {
                assert!(shortest[0] != shortest[1], "{length}");
            }
            let covered = |at: usize| all.iter().any(|&(a, b)| a + 3 <= at && at + 3 <= b);
            assert!((3..=length - 3).all(covered), "{length}");
        }
    }

    #[test]
    fn a_step_by_hand() {
        let step = largest(&past(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), 0, 6, 1.0).expect("long enough");
        // One apart, of three each: sqrt(1/3 + 1/3).
        assert_eq!(step.at, 3);
        assert!((step.size - 1.0 / (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        let four_times = largest(&past(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), 0, 6, 4.0);
        assert!((four_times.expect("a step").size - step.size / 2.0).abs() < 1e-12);
        assert_eq!(largest(&past(&[0.0; 5]), 0, 5, 1.0), None);
    }

    #[test]
    fn a_bump_is_seen_by_an_interval_of_its_own() {
        let mut ln = vec![0.0; 64];
        ln[24..32].fill(2.0);
        let step = largest(&past(&ln), 0, 64, 1.0).expect("a step");
        assert!(step.at == 24 || step.at == 32, "{step:?}");
        assert!(step.size >= 4.0, "{step:?}");
    }

    #[test]
    fn a_run_that_knows_little_weighs_little_and_an_odd_one_is_cut() {
        let mut series = past(&[0.0; 12]);
        series.ln[6] = 1000.0;
        let odd = largest(&series, 0, 12, 1.0).expect("a step");
        assert!(odd.size < 1.5, "{odd:?}");
        let mut unsure = past(&[0.0; 12]);
        for at in 6..9 {
            unsure.ln[at] = 4.0;
        }
        let sure = largest(&unsure, 0, 12, 1.0).expect("a step").size;
        unsure.assumed[6..9].fill(64.0);
        let step = largest(&unsure, 0, 12, 1.0).expect("a step").size;
        assert!(step < sure / 2.0, "{step} {sure}");
    }
}
