//! What holds of any curve.

use super::*;

/// Curves of levels, ramps, outliers and noise, and of nothing but noise.
fn any_curve() -> impl Strategy<Value = Vec<Point>> {
    let stretch = (3usize..14, 1.0f64..8.0, -0.1f64..0.6, 0.0f64..0.4);
    (prop::collection::vec(stretch, 0..6), any::<u64>()).prop_map(|(stretches, seed)| {
        let mut random = Dice(seed);
        let mut points: Vec<Point> = Vec::new();
        let mut y = random.uniform() * 4.0;
        for (count, step, slope, noise) in stretches {
            let jumping = random.below(5) == 0;
            for _ in 0..count {
                let mut ns = y.exp2() * (1.0 + noise * (random.uniform() - 0.5));
                y += slope * 0.25;
                if jumping && random.below(2) == 0 {
                    ns *= 5.0;
                }
                if random.below(20) == 0 {
                    ns *= [0.5, 2.0, 6.0][random.below(3)];
                }
                let bytes = (1024.0 * (points.len() as f64 / 4.0).exp2()) as u64;
                let wide = if random.below(8) == 0 { 2.0 } else { 1.02 };
                points.push(Point {
                    bytes,
                    ns,
                    low: ns / wide,
                    high: ns * wide,
                    two_states: random.below(30) == 0,
                });
            }
            y += step.log2();
        }
        points
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn levels_are_ordered_apart_and_in_the_curve(points in any_curve()) {
        let found = found_levels(&points);
        for f in &found {
            prop_assert!(f.from_bytes < f.to_bytes);
            prop_assert!(points.iter().any(|p| p.bytes == f.from_bytes));
            prop_assert!(points.iter().any(|p| p.bytes == f.to_bytes));
            prop_assert!(f.low_ns <= f.ns && f.ns <= f.high_ns, "{f:?}");
            prop_assert_eq!(f.certain, f.reason.is_none());
            let count = points.iter().filter(|p| (f.from_bytes..=f.to_bytes).contains(&p.bytes)).count();
            prop_assert!(count >= 4);
        }
        for pair in found.windows(2) {
            prop_assert!(pair[0].to_bytes < pair[1].from_bytes);
            if pair[0].certain && pair[1].certain {
                prop_assert!(pair[0].ns < pair[1].ns);
            }
        }
    }

    #[test]
    fn scale_changes_nothing_but_the_times(points in any_curve(), scale in 0.01f64..100.0) {
        let scaled: Vec<Point> = points
            .iter()
            .map(|p| Point { ns: p.ns * scale, low: p.low * scale, high: p.high * scale, ..*p })
            .collect();
        let (a, b) = (found_levels(&points), found_levels(&scaled));
        prop_assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            prop_assert_eq!((a.from_bytes, a.to_bytes, &a.name), (b.from_bytes, b.to_bytes, &b.name));
            prop_assert!((b.ns / a.ns / scale - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn order_of_the_points_changes_nothing(points in any_curve(), seed in any::<u64>()) {
        let mut random = Dice(seed);
        let mut mixed = points.clone();
        for index in (1..mixed.len()).rev() {
            mixed.swap(index, random.below(index + 1));
        }
        prop_assert_eq!(found_levels(&mixed), found_levels(&points));
    }
}
