//! How levels are named.

use super::{KIB, MIB, MadeLevel, curve, intel, level, zen3};
use model::plateau::Stated;

fn stated(sizes: &[u64]) -> Vec<Stated> {
    (1..).zip(sizes).map(|(level, &bytes)| Stated { level, bytes }).collect()
}

/// Names of the levels of a made curve where the machine states these caches.
fn level_names(levels: &[MadeLevel], caches: &[u64]) -> Vec<String> {
    let found = model::plateau::find_plateaus(&curve(levels), &stated(caches));
    found.into_iter().map(|level| level.name).collect()
}

/// What the curve is, its levels, the caches that the machine states, and the
/// names that its levels get.
type NamedCurve<'c> = (&'static str, &'c [MadeLevel], &'c [u64], &'c [&'static str]);

#[test]
fn levels_take_the_names_of_the_caches_that_are_stated() {
    let zen3: Vec<MadeLevel> = zen3().iter().map(|l| l.1).collect();
    let intel: Vec<MadeLevel> = intel().iter().map(|l| l.1).collect();
    let phone = [
        level(KIB, 128 * KIB, 1.0),
        level(180 * KIB, 10 * MIB, 6.0),
        level(32 * MIB, 128 * MIB, 100.0),
    ];
    let walk = [
        level(KIB, 32 * KIB, 1.2),
        level(40 * KIB, 900 * KIB, 4.0),
        level(2 * MIB, 6 * MIB, 12.0),
        level(8 * MIB, 24 * MIB, 25.0),
        level(64 * MIB, 256 * MIB, 120.0),
    ];
    let within = [
        level(KIB, 32 * KIB, 1.2),
        level(45 * KIB, 300 * KIB, 3.4),
        level(400 * KIB, MIB, 6.0),
        level(3 * MIB, 24 * MIB, 20.0),
    ];
    let guest = [
        level(KIB, 48 * KIB, 1.0),
        level(64 * KIB, 900 * KIB, 3.6),
        level(2 * MIB, 20 * MIB, 15.0),
        level(30 * MIB, 64 * MIB, 131.0),
    ];
    let mut farther = guest;
    farther[3] = level(30 * MIB, 960 * MIB, 131.0);
    let near = [
        level(KIB, 32 * KIB, 1.2),
        level(45 * KIB, 2 * MIB, 40.0),
        level(8 * MIB, 256 * MIB, 80.0),
    ];
    let real = [
        level(KIB, 48 * KIB, 1.2),
        level(64 * KIB, 1200 * KIB, 4.0),
        level(3 * MIB, 20 * MIB, 20.0),
        level(64 * MIB, 256 * MIB, 110.0),
    ];
    let all = ["L1", "L2", "L3", "DRAM"];
    let cases: &[NamedCurve] = &[
        ("Zen 3", &zen3, &[32 * KIB, 512 * KIB, 32 * MIB], &all),
        ("Intel", &intel, &[48 * KIB, 1280 * KIB, 24 * MIB], &all),
        ("a phone of two caches", &phone, &[128 * KIB, 12 * MIB], &["L1", "L2", "DRAM"]),
        (
            "the TLB's reach ends within L3: no L4",
            &walk,
            &[32 * KIB, MIB, 32 * MIB],
            &["L1", "L2", "L3", "to_32MiB", "DRAM"],
        ),
        (
            "two steps within L2: the one that ends with it is the cache",
            &within,
            &[32 * KIB, MIB, 32 * MIB],
            &["L1", "to_256KiB", "L2", "L3"],
        ),
        (
            "a guest shown 480 MiB, of which a core reaches 20, walked to 64 MiB",
            &guest,
            &[48 * KIB, MIB, 480 * MIB],
            &["L1", "L2", "L3", "to_64MiB"],
        ),
        ("the same walked to memory", &farther, &[48 * KIB, MIB, 480 * MIB], &all),
        (
            "memory less than 2.5 times slower than the last cache",
            &near,
            &[32 * KIB, 2 * MIB],
            &["L1", "L2", "DRAM"],
        ),
        ("the same by order", &near, &[], &["L1", "L2", "L3"]),
        ("QEMU's sizes", &real, &[32 * KIB, 4 * MIB, 16 * MIB], &all),
        ("other sizes", &real, &[64 * KIB, 512 * KIB, 16 * MIB], &all),
        ("a curve that shows no L1", &real[1..], &[32 * KIB, MIB, 16 * MIB], &all[1..]),
    ];
    for (curve, levels, caches, names) in cases {
        assert_eq!(level_names(levels, caches), *names, "{curve}");
    }
}

#[test]
fn a_name_by_size_does_not_move_with_a_point_of_the_curve() {
    let name = |end_kib: u64| {
        let walk = [
            level(KIB, 32 * KIB, 1.2),
            level(40 * KIB, 900 * KIB, 4.0),
            level(2 * MIB, 6 * MIB, 12.0),
            level(8 * MIB, end_kib * KIB, 25.0),
            level(80 * MIB, 256 * MIB, 120.0),
        ];
        level_names(&walk, &[32 * KIB, MIB, 32 * MIB]).remove(3)
    };
    // Four points an octave, from 2^24.5 to 2^25.25.
    for end_kib in [23_171, 27_555, 32_768, 38_968] {
        assert_eq!(name(end_kib), "to_32MiB", "{end_kib}");
    }
}

#[test]
fn caches_of_instructions_and_of_other_cpus_name_nothing() {
    use model::machine::{CacheFact, CacheKind};
    let cache = |level, kind, size_bytes, cpus: &[u32]| CacheFact {
        level,
        kind,
        size_bytes,
        line_bytes: None,
        ways: None,
        shared_cpus: cpus.to_vec(),
    };
    let caches = [
        cache(3, CacheKind::Unified, Some(32 * MIB), &[0, 1, 2, 3]),
        cache(1, CacheKind::Data, Some(48 * KIB), &[0, 1]),
        cache(1, CacheKind::Instruction, Some(64 * KIB), &[0, 1]),
        cache(1, CacheKind::Data, Some(128 * KIB), &[2, 3]),
        cache(2, CacheKind::Unified, Some(MIB), &[]),
    ];
    let of = |caches: &[CacheFact], cpus: &[u32]| {
        let stated = Stated::from_caches(caches, cpus).into_iter();
        stated.map(|s| (s.level, s.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(of(&caches, &[0]), [(1, 48 * KIB), (2, MIB), (3, 32 * MIB)]);
    assert_eq!(of(&caches, &[1, 2])[0], (1, 128 * KIB));
    // One without a size, or one that is missing: nothing can be named.
    let mut unknown = caches.clone();
    unknown[4].size_bytes = None;
    assert_eq!(of(&unknown, &[0]), []);
    assert_eq!(of(&caches[..4], &[0]), []);
}
