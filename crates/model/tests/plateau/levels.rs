//! Levels that are there are found.

use super::*;

#[test]
fn one_level_is_l1_however_slow() {
    finds(&[("L1", level(KIB, MIB, 1.4))]);
    finds(&[("L1", level(16 * MIB, 256 * MIB, 90.0))]);
}

#[test]
fn two_levels() {
    finds(&[("L1", level(KIB, 32 * KIB, 1.4)), ("L2", level(45 * KIB, 2 * MIB, 5.0))]);
    finds(&[("L1", level(KIB, 32 * KIB, 3.0)), ("DRAM", level(45 * KIB, 256 * MIB, 90.0))]);
}

#[test]
fn three_levels_close_together() {
    finds(&[
        ("L1", level(KIB, 32 * KIB, 4.0)),
        ("L2", level(38 * KIB, 512 * KIB, 7.2)),
        ("L3", level(600 * KIB, 16 * MIB, 13.0)),
    ]);
}

#[test]
fn four_levels_of_intel() {
    finds(&intel());
}

#[test]
fn a_level_of_four_points() {
    finds(&[
        ("L1", level(KIB, 32 * KIB, 1.4)),
        ("L2", level(38 * KIB, 64 * KIB, 4.0)),
        ("L3", level(76 * KIB, 16 * MIB, 13.0)),
    ]);
}

#[test]
fn a_server_up_to_one_gib() {
    finds(&[
        ("L1", level(KIB, 48 * KIB, 1.3)),
        ("L2", level(60 * KIB, 1792 * KIB, 4.4)),
        ("L3", leaning(3 * MIB, 80 * MIB, 28.0, 36.0)),
        ("DRAM", leaning(192 * MIB, GIB, 110.0, 125.0)),
    ]);
}

#[test]
fn four_caches_before_dram() {
    finds(&[
        ("L1", level(KIB, 32 * KIB, 1.2)),
        ("L2", level(40 * KIB, 256 * KIB, 3.8)),
        ("L3", level(400 * KIB, 5 * MIB, 12.0)),
        ("L4", level(8 * MIB, 100 * MIB, 36.0)),
        ("DRAM", level(200 * MIB, GIB, 120.0)),
    ]);
}

#[test]
fn published_iphones() {
    let phone = |l2: u64, ns: [f64; 3]| {
        finds(&[
            ("L1", level(512, 64 * KIB, ns[0])),
            ("L2", level(90 * KIB, l2, ns[1])),
            ("DRAM", level(3 * l2, 64 * MIB, ns[2])),
        ]);
    };
    phone(MIB, [7.0, 30.0, 240.0]);
    phone(3 * MIB, [5.0, 12.0, 200.0]);
    phone(8 * MIB, [2.0, 12.0, 146.0]);
}

#[test]
fn the_zen_3_vm() {
    let clean = zen3_curve();
    compare(&found_levels(&clean), &zen3()).expect("without noise");
    succeeds(|random| compare(&found_levels(&noisy(&clean, 0.05, random)), &zen3()));
}

#[test]
fn a_missing_level_is_not_invented() {
    // No L3: L2 runs straight into memory.
    finds(&[
        ("L1", level(KIB, 32 * KIB, 1.4)),
        ("L2", level(38 * KIB, 512 * KIB, 4.5)),
        ("DRAM", level(MIB, 256 * MIB, 95.0)),
    ]);
}

#[test]
fn a_slope_does_not_split_a_level() {
    let l = ("L1", leaning(4 * MIB, 256 * MIB, 82.0, 98.0));
    finds(&[l]);
}

#[test]
fn dram_needs_size_and_distance() {
    let upto = |end: u64, ns: f64| {
        let found = found_levels(&curve(&[
            level(KIB, 48 * KIB, 1.2),
            level(64 * KIB, MIB, 4.0),
            level(2 * MIB, end, ns),
        ]));
        found[found.len() - 1].name.clone()
    };
    assert_eq!(upto(256 * MIB, 90.0), "DRAM");
    // Ends before 64 MiB: perhaps a cache.
    assert_eq!(upto(32 * MIB, 90.0), "L3");
    // Not much slower than what is before.
    assert_eq!(upto(256 * MIB, 8.0), "L3");
    // A last level that does not reach the end.
    let mut points = curve(&[
        level(KIB, 48 * KIB, 1.2),
        level(64 * KIB, 64 * MIB, 90.0),
        leaning(70 * MIB, GIB, 150.0, 5000.0),
    ]);
    assert_eq!(plateau_names(&found_levels(&points)), ["L1", "L2"]);
    points.retain(|p| p.bytes <= 64 * MIB);
    assert_eq!(plateau_names(&found_levels(&points)), ["L1", "DRAM"]);
}
