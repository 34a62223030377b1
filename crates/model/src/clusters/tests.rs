use super::*;
use crate::machine::{CacheFact, CacheKind, Fact, Machine, NumaNode};

/// A machine of so many CPUs: SMT siblings lie half of them apart, as the kernel numbers them, clusters of `cores`
/// cores, two sockets.
fn near(count: u64, cores: u64) -> impl Fn(u64, u64) -> f64 {
    move |a, b| {
        let core = |cpu: u64| cpu % (count / 2);
        match () {
            () if core(a) == core(b) => 9.7,
            () if core(a) / cores == core(b) / cores => 22.7,
            () if core(a) / (count / 4) == core(b) / (count / 4) => 107.6,
            () => 198.3,
        }
    }
}

/// Numbers that look random, between -1 and 1, the same each time (Park and Miller's generator).
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state * 48271 % 2_147_483_647;
        state as f64 / 2_147_483_647.0 * 2.0 - 1.0
    }
}

fn pairs(count: u64, mut ns: impl FnMut(u64, u64) -> f64) -> Vec<CpuPair> {
    let mut all = Vec::new();
    for b in 0..count {
        all.extend((0..b).map(|a| CpuPair { cpus: [a, b], ns: ns(a, b), relative_half: 0.01 }));
    }
    all
}

/// CPUs of each cluster of a level.
fn cpus(found: &Clusters, level: usize) -> Vec<Vec<u64>> {
    let ranges = found.levels[level].clusters.iter();
    ranges.map(|range| found.order[range.clone()].to_vec()).collect()
}

/// What [`near`] has: siblings, clusters, sockets.
fn assert_found(found: &Clusters, count: u64, cores: u64, tolerance: f64) {
    assert_eq!(found.levels.len(), 3, "{:?}", found.levels);
    let half = count / 2;
    let siblings: Vec<Vec<u64>> = (0..half).map(|core| vec![core, core + half]).collect();
    assert_eq!(cpus(found, 0), siblings);
    let cluster = |first: u64| -> Vec<u64> {
        (first..first + cores).flat_map(|core| [core, core + half]).collect()
    };
    // Within a cluster by core, so that siblings lie next to each other.
    let clusters: Vec<Vec<u64>> = (0..half / cores).map(|at| cluster(at * cores)).collect();
    assert_eq!(cpus(found, 1), clusters);
    assert_eq!(found.levels[2].clusters, [0..half as usize, half as usize..count as usize]);
    let medians = found.levels.iter().map(|level| level.median_ns);
    for (is, expected) in medians.chain(found.apart_ns).zip([9.7, 22.7, 107.6, 198.3]) {
        assert!((is / expected - 1.0).abs() <= tolerance, "{is} is not {expected}");
    }
}

#[test]
fn siblings_clusters_and_sockets_of_64_128_and_256_cpus() {
    for count in [64, 128, 256] {
        assert_found(&find_clusters(&pairs(count, near(count, 8))), count, 8, 1e-9);
    }
}

#[test]
fn noise_and_disturbed_pairs_change_no_cluster() {
    let exact = near(64, 8);
    let mut noise = random(7);
    let noisy = pairs(64, |a, b| {
        let factor = 1.0 + 0.06 * noise();
        // One in fifty was disturbed, siblings excepted: of these there is one figure each.
        let disturbed = a % 32 != b % 32 && noise() > 0.96;
        exact(a, b) * factor * if disturbed { 4.0 } else { 1.0 }
    });
    assert_found(&find_clusters(&noisy), 64, 8, 0.02);
}

#[test]
fn missing_pairs_change_no_cluster() {
    let mut dice = random(11);
    let mut some = pairs(64, near(64, 8));
    some.retain(|pair| pair.cpus[0] % 32 == pair.cpus[1] % 32 || dice() < 0.4);
    assert!(some.len() < 64 * 63 / 2 * 3 / 4, "{}", some.len());
    assert_found(&find_clusters(&some), 64, 8, 1e-9);
}

#[test]
fn cpus_that_are_all_as_near_have_none() {
    assert_eq!(find_clusters(&[]), Clusters::default());
    for count in [2, 4, 8, 64] {
        for seed in 1..20 {
            let mut noise = random(seed);
            let alike = find_clusters(&pairs(count, |_, _| 60.0 * (1.0 + 0.05 * noise())));
            assert_eq!(alike.levels, [], "{count} CPUs, {seed}");
            assert_eq!(alike.order, (0..count).collect::<Vec<_>>());
        }
    }
    // A gradient is no cluster.
    let slope = find_clusters(&pairs(16, |a, b| 40.0 + 4.0 * (b - a) as f64));
    assert_eq!(slope.levels, []);
    // Gaps that intervals are as wide as.
    let mut wide = pairs(8, |a, b| if a / 4 == b / 4 { 40.0 } else { 60.0 });
    assert_eq!(find_clusters(&wide).levels.len(), 1);
    wide.iter_mut().for_each(|pair| pair.relative_half = 0.3);
    assert_eq!(find_clusters(&wide).levels, []);
}

#[test]
fn clusters_of_different_sizes() {
    // Two of four cores and one of two, each without siblings.
    let of = |cpu: u64| [0, 0, 1, 1, 1, 1, 2, 2, 2, 2][cpu as usize];
    let found = find_clusters(&pairs(10, |a, b| if of(a) == of(b) { 48.0 } else { 145.0 }));
    assert_eq!(found.levels.len(), 1);
    assert_eq!(found.levels[0].clusters, [0..2, 2..6, 6..10]);
}

fn machine_of(count: u32) -> Machine {
    let mut machine = Machine::unknown("x86_64", "made up");
    let half = count / 2;
    let cache = |level: u32, kind: CacheKind, cpus: Vec<u32>| CacheFact {
        level,
        kind,
        size_bytes: None,
        line_bytes: None,
        ways: None,
        shared_cpus: cpus,
    };
    let of = |first: u32, cores: u32| -> Vec<u32> {
        (first..first + cores).chain(first + half..first + half + cores).collect()
    };
    let mut caches = Vec::new();
    for core in 0..half {
        caches.push(cache(1, CacheKind::Data, of(core, 1)));
        caches.push(cache(1, CacheKind::Instruction, of(core, 1)));
        caches.push(cache(2, CacheKind::Unified, of(core, 1)));
    }
    caches.extend((0..half / 8).map(|at| cache(3, CacheKind::Unified, of(at * 8, 8))));
    machine.caches = Fact::known(caches);
    machine.sockets = Fact::known(2);
    let node = |id: u32| NumaNode { id, cpus: of(id * half / 2, half / 2), memory_bytes: 1 };
    machine.numa_nodes = Fact::known(vec![node(0), node(1)]);
    machine
}

#[test]
fn levels_are_named_by_what_the_system_describes() {
    let mut found = find_clusters(&pairs(64, near(64, 8)));
    assert_eq!(shared_by(&mut found, &machine_of(64)), []);
    let shared: Vec<Vec<Shared>> = found.levels.iter().map(|level| level.shared.clone()).collect();
    assert_eq!(
        shared,
        [vec![Shared::Core], vec![Shared::Cache(3)], vec![Shared::Node, Shared::Socket]]
    );
    // Nothing is described, and what is described is not seen.
    let mut found = find_clusters(&pairs(64, near(64, 8)));
    assert_eq!(shared_by(&mut found, &Machine::unknown("x86_64", "made up")), []);
    assert!(found.levels.iter().all(|level| level.shared.is_empty()));
    let mut flat = find_clusters(&pairs(64, |_, _| 50.0));
    let unseen = shared_by(&mut flat, &machine_of(64));
    assert_eq!(unseen, [(Shared::Core, 32), (Shared::Cache(3), 4), (Shared::Node, 2)]);
}
