//! Many rows, many chances to be fooled: at 5 % each, three hundred rows of
//! an unchanged machine would call fifteen false alarms. Everything that is
//! done against it is here: `families` for comparisons, `holm` for gates.

use super::student;
use serde::{Deserialize, Serialize};

/// Rows that are tested together. What comes out in one family neither costs
/// another one power nor lets more of it be called wrongly.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Quiet figures: small operations, system calls.
    Quiet,
    /// Quiet figures of memory beyond the core.
    Memory,
    /// Distributions: operations between threads, long ones, files.
    Distribution,
    /// Events and bytes.
    Count,
}

impl Family {
    /// As printed.
    pub fn printed(self) -> &'static str {
        match self {
            Family::Quiet => "quiet figures",
            Family::Memory => "memory",
            Family::Distribution => "distributions",
            Family::Count => "counts",
        }
    }

    /// As how many tests each of its rows counts (Bonferroni): kept runs choose one
    /// of two quantiles of a distribution by its smaller variance, which is the
    /// variance that its difference is held against.
    pub(crate) fn looks(self) -> f64 {
        match self {
            Family::Distribution => 2.0,
            Family::Quiet | Family::Memory | Family::Count => 1.0,
        }
    }

    /// The change that its rows are to find, as a share: where one is in doubt,
    /// the level goes.
    pub fn sought(self) -> f64 {
        match self {
            Family::Quiet | Family::Memory => 0.10,
            Family::Distribution | Family::Count => 0.25,
        }
    }
}

/// One hypothesis of many: that a row is as before.
#[derive(Clone, Copy, Debug)]
pub struct Hypothesis {
    /// Which rows it is tested with.
    pub family: Family,
    /// The chance of what was seen where it holds.
    pub p_value: f64,
    /// Standard error of the logarithm of the row's ratio.
    pub standard_error: f64,
    /// Degrees of freedom of that.
    pub df: f64,
}

/// Of the level, this part is shared evenly: so small a change as a precise row
/// can show is looked for too.
const EVEN: f64 = 0.25;

/// The part of `level` at which each hypothesis is tested; together they are
/// `level`. Decided by how well each row is known, never by what came out of
/// it (weights: Genovese, Roeder, Wasserman, Biometrika 93, 2006, 509-524).
///
/// The parts are those with which most rows find the change that their family
/// seeks (Spjøtvoll, Ann. Math. Stat. 43, 1972, 398-411): next to none for a row
/// in which it would be lost in noise, and little for one that shows it anyway.
pub fn levels(all: &[Hypothesis], level: f64) -> Vec<f64> {
    let even = level / all.len().max(1) as f64;
    let sought = |h: &Hypothesis| h.family.sought().ln_1p() / h.standard_error;
    let part = |h: &Hypothesis, price: f64| {
        let z = sought(h);
        match z.is_finite() && z > 0.0 {
            true => 2.0 * student::share_above(z / 2.0 + price / z, h.df),
            false => 0.0,
        }
    };
    let sum = |price: f64| all.iter().map(|h| part(h, price)).sum::<f64>();
    // The higher the price of level, the less of it is asked for.
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if sum(middle) > level { low = middle } else { high = middle }
    }
    let of_all = sum(high);
    all.iter()
        .map(|h| {
            let own = if of_all > 0.0 { part(h, high) * level / of_all } else { even };
            EVEN * even + (1.0 - EVEN) * own
        })
        .collect()
}

/// Which hypotheses to reject, each of which is tested at its part of the level
/// ([`levels`]): Benjamini and Hochberg's procedure in each family, at the sum of
/// its parts, with p-values weighted by them. So where all hold, any is rejected
/// in at most a share `level` of comparisons, and of those rejected in a family
/// at most that share is expected to hold.
pub(super) fn families(all: &[Hypothesis], level: f64) -> Vec<bool> {
    let levels = levels(all, level);
    let mut rejected = vec![false; all.len()];
    let mut kinds: Vec<Family> = all.iter().map(|h| h.family).collect();
    kinds.sort();
    kinds.dedup();
    for family in kinds {
        let own: Vec<usize> = (0..all.len()).filter(|&at| all[at].family == family).collect();
        let of_family: f64 = own.iter().map(|&at| levels[at]).sum();
        let even = of_family / own.len() as f64;
        let weighted = |&at: &usize| all[at].p_value * even / levels[at];
        let p_values: Vec<f64> = own.iter().map(weighted).collect();
        let marks = benjamini_hochberg(&p_values, of_family);
        for (at, mark) in own.into_iter().zip(marks) {
            rejected[at] = mark;
        }
    }
    rejected
}

/// Benjamini and Hochberg's step-up procedure (J. R. Statist. Soc. B 57, 1995,
/// 289-300): which of the hypotheses to reject, so that of those rejected at
/// most a share `q` is expected to be true, and, where all are true, any is
/// rejected in at most a share `q` of comparisons.
///
/// The rows of a run share a clock and neighbours, so their errors lean the
/// same way; the bound is proven for independent ones and held in simulation
/// where they share half of their error (`tests/compare.rs`).
pub(super) fn benjamini_hochberg(p_values: &[f64], q: f64) -> Vec<bool> {
    let order = rising(p_values);
    let m = p_values.len() as f64;
    let rejected = order
        .iter()
        .enumerate()
        .rposition(|(rank, &at)| p_values[at] <= q * (rank + 1) as f64 / m)
        .map_or(0, |rank| rank + 1);
    marked(&order[..rejected], p_values.len())
}

/// Holm's step-down procedure (Scand. J. Statist. 6, 1979, 65-70): which of
/// the hypotheses to reject, so that the chance of rejecting any true one is at
/// most `level`, however the errors hang together.
pub(super) fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let order = rising(p_values);
    let m = p_values.len();
    let rejected = order
        .iter()
        .enumerate()
        .take_while(|&(rank, &at)| p_values[at] <= level / (m - rank) as f64)
        .count();
    marked(&order[..rejected], m)
}

/// Places of the values, the smallest first.
fn rising(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

fn marked(places: &[usize], length: usize) -> Vec<bool> {
    let mut marks = vec![false; length];
    for &at in places {
        marks[at] = true;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fifteen p-values of Benjamini and Hochberg's own example (1995,
    /// section 4.1): Bonferroni and Holm reject three, theirs four.
    const EXAMPLE: [f64; 15] = [
        0.6528, 0.0001, 0.0344, 0.0459, 0.3240, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298,
        0.4262, 0.5719, 0.7590, 1.0000,
    ];

    fn places(marks: &[bool]) -> Vec<usize> {
        (0..marks.len()).filter(|&at| marks[at]).collect()
    }

    #[test]
    fn the_published_example_is_reproduced() {
        assert_eq!(places(&benjamini_hochberg(&EXAMPLE, 0.05)), [1, 5, 6, 7]);
        assert_eq!(places(&holm(&EXAMPLE, 0.05)), [1, 5, 6]);
    }

    #[test]
    fn the_largest_that_fits_takes_the_smaller_ones_with_it() {
        // 0.03 alone is above 0.05/3, 0.049 of rank three is not.
        let p = [0.03, 0.049, 0.04];
        assert_eq!(places(&benjamini_hochberg(&p, 0.05)), [0, 1, 2]);
        assert_eq!(places(&holm(&p, 0.05)), [0_usize; 0]);
        // Once the smallest is rejected, two are left to share the level.
        assert_eq!(places(&holm(&[0.012, 0.02, 0.06], 0.05)), [0, 1]);
        assert!(benjamini_hochberg(&[], 0.05).is_empty());
        assert!(holm(&[], 0.05).is_empty());
    }

    fn hypothesis(family: Family, p_value: f64, standard_error: f64) -> Hypothesis {
        Hypothesis { family, p_value, standard_error, df: 12.0 }
    }

    #[test]
    fn the_level_is_spent_where_a_change_is_in_doubt() {
        let rows = [0.001, 0.025, 0.5].map(|error| hypothesis(Family::Quiet, 0.5, error));
        let parts = levels(&rows, 0.05);
        assert!((parts.iter().sum::<f64>() - 0.05).abs() < 1e-9, "{parts:?}");
        assert!(parts[1] > 0.035, "{parts:?}");
        for part in [parts[0], parts[2]] {
            assert!((0.004..0.007).contains(&part), "{parts:?}");
        }
        // A hundred hopeless rows take no more than their even part.
        let mut many = vec![rows[1]];
        many.extend([rows[2]; 100]);
        assert!(levels(&many, 0.05)[0] > 0.025);
        assert_eq!(levels(&[], 0.05), [0.0; 0]);
        // What has no spread at all is no reason to divide by nothing.
        let none = [hypothesis(Family::Quiet, 0.5, 0.0), rows[1]];
        assert!(levels(&none, 0.05).iter().all(|part| part.is_finite()));
    }

    #[test]
    fn what_is_found_in_one_family_opens_no_other() {
        // Twenty rows that surely changed, and one more of p = 0.01.
        let with = |family| {
            let mut all = vec![hypothesis(Family::Quiet, 1e-9, 0.01); 20];
            all.push(hypothesis(family, 0.01, 0.01));
            families(&all, 0.05)
        };
        assert_eq!(with(Family::Quiet), [true; 21]);
        let mut alone = [true; 21];
        alone[20] = false;
        assert_eq!(with(Family::Distribution), alone);
    }

    #[test]
    fn what_is_not_a_number_is_never_rejected() {
        let p = [f64::NAN, 0.001];
        assert_eq!(places(&benjamini_hochberg(&p, 0.05)), [1]);
        assert_eq!(places(&holm(&p, 0.05)), [1]);
    }
}
