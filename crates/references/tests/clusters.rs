//! The clusters that the model finds are those of the published matrices: of each its groups' sizes and medians are
//! known, and a matrix of these groups, with noise, must give them back.

use model::clusters::{CpuPair, find_clusters};
use references::{CoreMatrix, core_matrices};

/// Sizes of the nested clusters that have these shares of all pairs; `None` where groups are no clusters of one
/// size: levels of sharing that are not nested, or rings whose distances differ.
fn sizes(matrix: &CoreMatrix) -> Option<Vec<u64>> {
    let count = u64::from(matrix.cpus);
    let (mut share, mut sizes) = (0.0, Vec::new());
    for group in matrix.groups.split_last()?.1 {
        share += group[0];
        let size = share * (count - 1) as f64 + 1.0;
        let whole = size.round();
        // Shares are rounded to three digits.
        let rounding = 0.0006 * count as f64 * matrix.groups.len() as f64 + 0.02;
        let before = sizes.last().copied().unwrap_or(1);
        let size_of = whole as u64;
        let is_nested =
            size_of > before && size_of.is_multiple_of(before) && count.is_multiple_of(size_of);
        if (size - whole).abs() > rounding || !is_nested {
            return None;
        }
        sizes.push(size_of);
    }
    (!sizes.is_empty()).then_some(sizes)
}

#[test]
fn clusters_of_the_published_matrices() {
    let mut checked = 0;
    let mut seed = 7_u64;
    let mut random = || {
        // Park and Miller's generator.
        seed = seed * 48271 % 2_147_483_647;
        seed as f64 / 2_147_483_647.0 * 2.0 - 1.0
    };
    for matrix in core_matrices().expect("matrices") {
        let Some(sizes) = sizes(matrix) else { continue };
        let count = u64::from(matrix.cpus);
        // The CPUs of a cluster are not next to each other.
        let place = |cpu: u64| cpu % 2 * count.div_ceil(2) + cpu / 2;
        let mut pairs = Vec::new();
        for y in 0..count {
            for x in 0..y {
                let level = sizes.iter().position(|size| place(x) / size == place(y) / size);
                let [_, median] = matrix.groups[level.unwrap_or(sizes.len())];
                let ns = median * (1.0 + 0.02 * random());
                pairs.push(CpuPair { cpus: [x, y], ns, relative_half: 0.01 });
            }
        }
        let found = find_clusters(&pairs);
        let machine = &matrix.machine;
        let lengths: Vec<Vec<u64>> = found
            .levels
            .iter()
            .map(|level| level.clusters.iter().map(|range| range.len() as u64).collect())
            .collect();
        let expected: Vec<Vec<u64>> =
            sizes.iter().map(|&size| vec![size; (count / size) as usize]).collect();
        assert_eq!(lengths, expected, "{machine}");
        for (level, size) in found.levels.iter().zip(&sizes) {
            for range in &level.clusters {
                let cluster = place(found.order[range.start]) / size;
                let mut own = found.order[range.clone()].iter();
                assert!(own.all(|&cpu| place(cpu) / size == cluster), "{machine}");
            }
        }
        let medians = found.levels.iter().map(|level| level.median_ns).chain(found.apart_ns);
        for (is, [_, published]) in medians.zip(&matrix.groups) {
            assert!((is / published - 1.0).abs() < 0.02, "{machine}: {is} is not {published}");
        }
        checked += 1;
    }
    assert_eq!(checked, 51, "of 107 matrices those whose groups are clusters of one size");
}
