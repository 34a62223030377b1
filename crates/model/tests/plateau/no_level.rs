//! What must not become a level, or part of one.

use super::*;

#[test]
fn a_ramp_is_no_level() {
    // From 4.5 to 90 ns over five octaves, 1.8x each: no flat stretch in it.
    finds(&[
        ("L1", level(KIB, 32 * KIB, 1.4)),
        ("L2", level(38 * KIB, 512 * KIB, 4.5)),
        ("DRAM", level(16 * MIB, 256 * MIB, 90.0)),
    ]);
    // And nothing but a ramp.
    let ramp = curve(&[leaning(KIB, 256 * MIB, 1.0, 8192.0)]);
    assert_eq!(found_levels(&ramp), []);
    succeeds(|random| {
        let found = found_levels(&noisy(&ramp, 0.05, random));
        if found.is_empty() { Ok(()) } else { Err(format!("{found:?}")) }
    });
}

#[test]
fn a_slow_ramp_gives_no_certain_level() {
    // By chance a few points of it may look level, which is allowed if it is said.
    let with_ramp = |per_octave: f64| {
        curve(&[
            level(KIB, 32 * KIB, 1.4),
            level(38 * KIB, 512 * KIB, 4.5),
            leaning(MIB, 32 * MIB, 14.0, 14.0 * per_octave.powi(5)),
        ])
    };
    let on_ramp = |points: &[Point]| {
        let found = found_levels(points);
        match found.iter().find(|f| f.from_bytes > 700 * KIB && f.certain) {
            Some(f) => Err(format!("{f:#?}")),
            None => Ok(()),
        }
    };
    on_ramp(&with_ramp(1.21)).expect("without noise");
    let steeper = with_ramp(1.5);
    succeeds(|random| on_ramp(&noisy(&steeper, 0.05, random)));
}

#[test]
fn a_level_rises_by_half_at_most() {
    let found = found_levels(&curve(&[leaning(MIB, 64 * MIB, 20.0, 40.0)]));
    assert_eq!(found.len(), 1);
    assert!(found[0].high_ns / found[0].low_ns < 1.55, "{found:?}");
}

#[test]
fn less_than_four_points_or_two_thirds_of_an_octave_is_no_level() {
    let of = |per_octave: u32, l2_points: u32| {
        let points: Vec<Point> = (0..per_octave * 15)
            .map(|k| {
                let bytes = (1024.0 * (f64::from(k) / f64::from(per_octave)).exp2()) as u64;
                point(
                    bytes,
                    match k {
                        k if k < per_octave * 5 => 1.4,
                        k if k < per_octave * 5 + l2_points => 4.0,
                        _ => 13.0,
                    },
                )
            })
            .collect();
        found_levels(&points).len()
    };
    assert_eq!((of(4, 3), of(4, 4)), (2, 3));
    assert_eq!((of(2, 3), of(2, 4)), (2, 3));
    assert_eq!((of(8, 5), of(8, 7)), (2, 3));
}

#[test]
fn the_decay_of_the_last_cache_belongs_to_no_level() {
    let found = found_levels(&zen3_curve());
    assert_eq!(plateau_names(&found), ["L1", "L2", "L3", "DRAM"]);
    assert!(found[2].to_bytes < 16 * MIB, "{:?}", found[2]);
    assert!(found[3].from_bytes > 32 * MIB, "{:?}", found[3]);
}

#[test]
fn outliers_neither_make_nor_split_levels() {
    let clean = curve(&intel().iter().map(|l| l.1).collect::<Vec<_>>());
    // One point at twice and at half its time, at every place.
    for spoilt in 0..clean.len() {
        for factor in [2.0, 0.5] {
            let mut points = clean.clone();
            points[spoilt] = point(clean[spoilt].bytes, clean[spoilt].ns * factor);
            compare_within(3, &found_levels(&points), &intel())
                .unwrap_or_else(|e| panic!("point {spoilt} x {factor}: {e}"));
        }
    }
    // Three at once, far enough apart, and noise.
    succeeds(|random| {
        let mut points = noisy(&clean, 0.05, random);
        for part in 0..3 {
            let spoilt = part * points.len() / 3 + random.below(points.len() / 3);
            points[spoilt] = point(points[spoilt].bytes, points[spoilt].ns * 2.0);
        }
        compare_within(3, &found_levels(&points), &intel())
    });
}

#[test]
fn a_single_outlier_is_kept_out_of_figure_and_range() {
    let mut points = curve(&[level(KIB, 32 * KIB, 1.4)]);
    points[7].ns = 2.8;
    let found = found_levels(&points);
    assert_eq!((found[0].low_ns, found[0].high_ns), (1.4, 1.4));
    assert!(found[0].certain);
}
