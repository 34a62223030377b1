//! How runs vary while nothing changes, learned from a history in which
//! something may have changed: from the steps between successive runs, of
//! which a change of level touches one.

use super::Past;
use crate::stats;

/// How much the assumption about the spread between runs is worth against what
/// the history shows: as in comparisons.
const ASSUMED_DF: f64 = 6.0;
/// A run is assumed to resemble the one before by this correlation,
const ASSUMED_RESEMBLANCE: f64 = 0.3;
/// which is worth so many runs.
const ASSUMED_RUNS: f64 = 20.0;
/// Beyond this a series is as good as a walk: what is called a level then has
/// no meaning.
const MOST_RESEMBLANCE: f64 = 0.7;
/// What resembles is taken for a slow wander, whose correlation from one run to
/// the next is this.
pub(super) const SLOW: f64 = 0.8;
/// Successive steps are worth about so much of independent ones (von Neumann
/// and others, Ann. Math. Statist. 12, 1941, 153-162).
const EFFICIENCY: f64 = 2.0 / 3.0;

/// How the runs of a history vary about a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// Of the variance over the assumed one.
    pub(super) factor: f64,
    /// How well that is known.
    pub(super) df: f64,
    /// Correlation of one run with the next.
    pub(super) resemblance: f64,
}

impl Spread {
    pub(super) fn from_past(past: &Past) -> Spread {
        let steps: Vec<f64> = (1..past.len())
            .map(|at| {
                let variance = past.assumed[at - 1] + past.assumed[at];
                (past.ln[at] - past.ln[at - 1]) / variance.sqrt()
            })
            .collect();
        let resemblance = resemblance(&steps);
        let df = EFFICIENCY * steps.len() as f64;
        // Runs that resemble their neighbours take smaller steps.
        let factor = stats::robust_mean_square(&steps) / (1.0 - resemblance);
        Spread {
            factor: (ASSUMED_DF + df * factor) / (ASSUMED_DF + df),
            df: ASSUMED_DF + df,
            resemblance,
        }
    }

    /// The share of the variance that wanders slowly.
    pub(super) fn slow_share(&self) -> f64 {
        self.resemblance / SLOW
    }

    /// By how much the mean of many such runs varies more than that of
    /// independent ones.
    pub(super) fn of_means(&self) -> f64 {
        let slow = self.slow_share();
        1.0 - slow + slow * (1.0 + SLOW) / (1.0 - SLOW)
    }
}

/// Correlation of a run with the next, from that of successive steps: -1/2
/// where runs are independent, 0 where they walk. By ranks, so that the steps
/// of real changes, however large, count as two among many (Spearman's, in the
/// scale of a normal correlation as Pearson 1907 has it).
fn resemblance(steps: &[f64]) -> f64 {
    let pairs = steps.len().saturating_sub(1);
    if pairs < 2 {
        return ASSUMED_RESEMBLANCE;
    }
    let (before, after) = (ranks(&steps[..pairs]), ranks(&steps[1..]));
    let seen = match correlation(&before, &after) {
        Some(of_ranks) => 1.0 + 2.0 * (2.0 * (std::f64::consts::PI * of_ranks / 6.0).sin()),
        None => ASSUMED_RESEMBLANCE,
    };
    let runs = steps.len() as f64;
    let both = (runs * seen + ASSUMED_RUNS * ASSUMED_RESEMBLANCE) / (runs + ASSUMED_RUNS);
    both.clamp(0.0, MOST_RESEMBLANCE)
}

/// The place of each value among all; equal ones share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let same = |&&at: &&usize| values[at] == values[order[from]];
        let count = order[from..].iter().take_while(same).count();
        for &at in &order[from..from + count] {
            ranks[at] = from as f64 + (count - 1) as f64 / 2.0;
        }
        from += count;
    }
    ranks
}

fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mean_a, mean_b) = (stats::mean(a)?, stats::mean(b)?);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    let size = (aa * bb).sqrt();
    (size > 0.0).then(|| ab / size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repeatable_random::Xorshift;

    /// A series of this standard deviation in units of the assumed one.
    fn past(count: usize, deviation: f64, resemblance: f64) -> Past {
        let mut bits = Xorshift(77);
        let mut value = bits.normals()[0];
        let fresh = (1.0 - resemblance * resemblance).sqrt();
        let ln = (0..count).map(|_| {
            value = resemblance * value + fresh * bits.normals()[0];
            0.01 * deviation * value
        });
        Past { ln: ln.collect(), assumed: vec![1e-4; count] }
    }

    #[test]
    fn run_to_run_variation_is_learned_whatever_changes() {
        for (deviation, resemblance) in [(1.0, 0.0), (3.0, 0.0), (2.0, 0.5)] {
            let mut past = past(400, deviation, resemblance);
            let calm = Spread::from_past(&past);
            assert!((calm.factor.sqrt() / deviation - 1.0).abs() < 0.1, "{calm:?}");
            assert!((calm.resemblance - resemblance).abs() < 0.12, "{calm:?}");
            // Ten levels far apart, and some odd runs.
            for (at, ln) in past.ln.iter_mut().enumerate() {
                *ln += (at / 40 % 2) as f64;
                *ln += if at % 29 == 3 { 5.0 } else { 0.0 };
            }
            let stepped = Spread::from_past(&past);
            let ratio = stepped.factor / calm.factor;
            assert!((0.9..1.6).contains(&ratio), "{stepped:?} {calm:?}");
        }
    }

    #[test]
    fn few_runs_say_little() {
        let two = Spread::from_past(&past(2, 1.0, 0.0));
        assert!((two.df - 6.0 - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(two.resemblance, ASSUMED_RESEMBLANCE);
        let same = Past { ln: vec![1.0; 60], assumed: vec![1e-4; 60] };
        let same = Spread::from_past(&same);
        assert!(same.factor > 0.0 && same.factor < 0.2, "{same:?}");
        assert_eq!(same.resemblance, ASSUMED_RESEMBLANCE);
    }

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
    }
}
