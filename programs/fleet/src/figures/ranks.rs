//! Whether the figures of one group of hosts lie to one side of another's: Mann and Whitney's test (Ann. Math.
//! Stat. 18, 1947, 50-60), which is the permutation test of the ranks. Nothing is assumed of how hosts are
//! distributed.

use model::compare::student;
use std::collections::HashMap;

/// Steps that a table of the exact distribution may take.
const EXACT_STEPS: usize = 20_000_000;

/// The two-sided test, which keeps the exact distributions that it has made.
#[derive(Default)]
pub(super) struct RankTest {
    /// By the sizes of both groups: the chance of each U.
    exact: HashMap<(usize, usize), Vec<f64>>,
}

impl RankTest {
    /// How likely groups of unlike figures lie so far to one side of each other where hosts are dealt to them by
    /// chance. Both sorted. Exact where no two figures are equal and the groups are not too large; else normal,
    /// which is above the exact one where either is small.
    pub(super) fn p_value(&mut self, group: &[f64], rest: &[f64]) -> f64 {
        let (n, m) = (group.len(), rest.len());
        if n == 0 || m == 0 {
            return 1.0;
        }
        let (u, ties) = u_and_ties(group, rest);
        let both = (n * m) as f64;
        if ties == 0.0 && steps(n, m) <= EXACT_STEPS {
            let chances = self.exact.entry((n, m)).or_insert_with(|| chances(n, m));
            let low = u.min(both - u) as usize;
            return (2.0 * chances[..=low].iter().sum::<f64>()).min(1.0);
        }
        let total = (n + m) as f64;
        let variance = both / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
        let away = ((u - both / 2.0).abs() - 0.5).max(0.0);
        match variance > 0.0 {
            true => 2.0 * student::share_above(away / variance.sqrt(), f64::INFINITY),
            false => 1.0,
        }
    }

    /// The smallest p-value that groups of these sizes can have.
    pub(super) fn least(n: usize, m: usize) -> f64 {
        // One over the number of ways to choose the group.
        let ways: f64 = (0..n).map(|k| ((m + n - k) as f64 / (n - k) as f64).ln()).sum();
        2.0 * (-ways).exp()
    }
}

/// Pairs of which the group's is the larger (ties count half), and the sum of t³ - t over ties.
fn u_and_ties(group: &[f64], rest: &[f64]) -> (f64, f64) {
    let mut all: Vec<(f64, bool)> = group.iter().map(|&v| (v, true)).collect();
    all.extend(rest.iter().map(|&v| (v, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut u, mut ties, mut below) = (0.0, 0.0, 0.0);
    for equal in all.chunk_by(|a, b| a.0 == b.0) {
        let own = equal.iter().filter(|(_, own)| *own).count() as f64;
        let others = equal.len() as f64 - own;
        u += own * (below + others / 2.0);
        below += others;
        let t = equal.len() as f64;
        ties += t * t * t - t;
    }
    (u, ties)
}

fn steps(n: usize, m: usize) -> usize {
    let least = n.min(m);
    (n * m + 1).saturating_mul(least).saturating_mul(2)
}

/// The chance of each U from 0 to n m: the coefficients of Gauss's binomial, a factor at a time; every factor
/// is a distribution, so nothing grows.
fn chances(n: usize, m: usize) -> Vec<f64> {
    let (n, m) = (n.min(m), n.max(m));
    let mut chances = vec![0.0; n * m + 1];
    chances[0] = 1.0;
    let mut top = 0;
    for i in 1..=n {
        // times (1 - q^(m+i)) / (1 - q^i), scaled by i / (m + i).
        let next = top + m;
        for k in (m + i..=next.min(n * m)).rev() {
            chances[k] -= chances[k - m - i];
        }
        for k in i..=next.min(n * m) {
            chances[k] += chances[k - i];
        }
        let scale = i as f64 / (m + i) as f64;
        chances[..=next].iter_mut().for_each(|chance| *chance *= scale);
        top = next;
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(group: &[f64], rest: &[f64]) -> f64 {
        RankTest::default().p_value(group, rest)
    }

    #[test]
    fn p_values_are_those_of_the_printed_tables() {
        // Three against four, U = 1: 2 of 35 ways to one side (U = 0 and 1).
        let value = p(&[1.0, 2.0, 4.0], &[3.0, 5.0, 6.0, 7.0]);
        assert!((value - 4.0 / 35.0).abs() < 1e-12, "{value}");
        // All of five below all of five: 2 of 252.
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((p(&low, &high) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(p(&low, &high), p(&high, &low));
        assert!((RankTest::least(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(p(&[], &low), 1.0);
    }

    #[test]
    fn chances_sum_to_one_and_keep_their_digits_in_the_tail() {
        for (n, m) in [(1, 1), (3, 4), (10, 190), (40, 60)] {
            let all = chances(n, m);
            let sum: f64 = all.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{n} {m} {sum}");
            let least = RankTest::least(n, m) / 2.0;
            assert!((all[0] / least - 1.0).abs() < 1e-9, "{n} {m}");
            assert!(all.iter().all(|&chance| chance > -1e-15), "{n} {m}");
        }
    }

    #[test]
    fn equal_figures_are_no_difference() {
        assert_eq!(p(&[1.0; 8], &[1.0; 9]), 1.0);
        assert!(p(&[1.0; 8], &[2.0; 9]) < 1e-3);
    }
}
