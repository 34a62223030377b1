//! Many rows, many chances to be fooled: at 5 % each, three hundred rows of
//! an unchanged machine would call fifteen false alarms.

/// Benjamini and Hochberg's step-up procedure (J. R. Statist. Soc. B 57, 1995,
/// 289-300): which of the hypotheses to reject, so that of those rejected at
/// most a share `q` is expected to be true, and, where all are true, any is
/// rejected in at most a share `q` of comparisons.
///
/// The rows of a run share a clock and neighbours, so their errors lean the
/// same way; the bound is proven for independent ones and held in simulation
/// where they share half of their error (`tests/compare.rs`).
pub fn benjamini_hochberg(p_values: &[f64], q: f64) -> Vec<bool> {
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
pub fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
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
    fn the_published_example_comes_out() {
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

    #[test]
    fn what_is_not_a_number_is_never_rejected() {
        let p = [f64::NAN, 0.001];
        assert_eq!(places(&benjamini_hochberg(&p, 0.05)), [1]);
        assert_eq!(places(&holm(&p, 0.05)), [1]);
    }
}
