//! Fewer points for a picture of many samples, with their extremes kept.

/// At most `most` of the points, which lie in the order of x: the first, the
/// last, and of each of equal stretches of places the lowest and the highest y.
/// So every point that stands out is drawn, as min-max decimation of
/// oscilloscopes has it; the average of a stretch may look shifted, which
/// Steinarsson's largest triangles (2013) would keep, but not its extremes.
/// All points where they are no more than that.
pub fn extremes<P: Clone>(points: &[P], most: usize, y: impl Fn(&P) -> f64) -> Vec<P> {
    if points.len() <= most {
        return points.to_vec();
    }
    // Two for the ends, two for each stretch.
    let stretches = most.saturating_sub(2) / 2;
    let mut kept = vec![0, points.len() - 1];
    for stretch in 0..stretches {
        let from = stretch * points.len() / stretches;
        let to = (stretch + 1) * points.len() / stretches;
        let by_y = |a: &usize, b: &usize| y(&points[*a]).total_cmp(&y(&points[*b]));
        kept.extend((from..to).min_by(by_y));
        kept.extend((from..to).max_by(by_y));
    }
    kept.sort_unstable();
    kept.dedup();
    kept.truncate(most);
    kept.into_iter().map(|at| points[at].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(values: &[f64], most: usize) -> Vec<f64> {
        extremes(values, most, |y| *y)
    }

    #[test]
    fn few_points_stay_as_they_are() {
        assert_eq!(kept(&[3.0, 1.0, 2.0], 3), [3.0, 1.0, 2.0]);
        assert!(kept(&[], 10).is_empty());
        assert_eq!(kept(&[5.0, 1.0, 9.0], 2), [5.0, 9.0]);
    }

    #[test]
    fn a_single_spike_among_many_stays() {
        let mut values: Vec<f64> = (0..100_000).map(|k| f64::from(k % 10)).collect();
        values[31_415] = 1e9;
        values[27_182] = -1e9;
        let few = kept(&values, 500);
        assert!(few.len() <= 500);
        assert!(few.contains(&1e9) && few.contains(&-1e9));
        assert_eq!(few.first(), values.first());
        assert_eq!(few.last(), values.last());
    }

    proptest! {
        #[test]
        fn what_is_kept_is_in_order_and_holds_the_extremes(
            values in proptest::collection::vec(-1e6_f64..1e6, 1..400),
            most in 4_usize..100,
        ) {
            let places: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
            let few = extremes(&places, most, |p| p.1);
            prop_assert!(few.len() <= most.max(values.len().min(most)));
            prop_assert!(few.windows(2).all(|w| w[0].0 < w[1].0));
            prop_assert!(few.iter().all(|&(at, y)| values[at] == y));
            let least = |of: &[(usize, f64)]| of.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
            let largest = |of: &[(usize, f64)]| of.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
            prop_assert_eq!(least(&few), least(&places));
            prop_assert_eq!(largest(&few), largest(&places));
        }
    }
}
