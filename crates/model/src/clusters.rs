//! Clusters of CPUs: those that are nearer to each other than to all others, found in the figures of their
//! pairs alone. What the system's description has in common with them is `shared`'s.
//!
//! Average linkage (Sokal and Michener 1958) of the logarithms of all pairs that have a figure; a cut of the tree
//! is a level where the pairs within its clusters and those between them hardly overlap.

mod shared;
#[cfg(test)]
mod tests;

pub use shared::{Shared, shared_by};

use crate::stats::{median, quantile_sorted};
use serde::Serialize;
use std::ops::Range;

/// A pair of CPUs with its figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuPair {
    /// Both CPUs.
    pub cpus: [u64; 2],
    /// Time one way.
    pub ns: f64,
    /// Half of its interval as a share of it.
    pub relative_half: f64,
}

/// CPUs by how near they are.
#[derive(Serialize, Clone, Debug, Default, PartialEq)]
pub struct Clusters {
    /// The CPUs, those of a cluster next to each other.
    pub order: Vec<u64>,
    /// From the nearest to the widest; each cluster lies within one of the next level. Empty where the figures
    /// show none.
    pub levels: Vec<ClusterLevel>,
    /// Median of the pairs that are in no cluster, ns.
    pub apart_ns: Option<f64>,
}

/// Clusters of one width.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct ClusterLevel {
    /// What the CPUs of each share, as the system describes it: `SMT siblings`; empty where it describes nothing
    /// that has these CPUs.
    pub shared: Vec<Shared>,
    /// Its clusters of two CPUs and more, as places in the order.
    pub clusters: Vec<Range<usize>>,
    /// Median of the pairs within its clusters that are not within those of the level before, ns.
    pub median_ns: f64,
}

/// Levels at most.
const MOST: usize = 3;
/// The factor by which pairs between clusters are farther at least: what the published matrices are split at.
const FACTOR: f64 = 1.12;
/// Intervals that the gap is wider than, so that noise makes no cluster.
const INTERVALS: f64 = 3.0;
/// Shares of pairs on the wrong side of the gap: single readings that were disturbed.
const LOW: f64 = 0.1;
const HIGH: f64 = 1.0 - LOW;

/// Finds the clusters. CPUs without a figure have no place.
pub fn find_clusters(pairs: &[CpuPair]) -> Clusters {
    let mut cpus: Vec<u64> = pairs.iter().flat_map(|pair| pair.cpus).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let place = |cpu: u64| cpus.binary_search(&cpu).unwrap_or(0);
    let placed: Vec<([usize; 2], f64)> = pairs
        .iter()
        .filter(|pair| pair.ns > 0.0 && pair.cpus[0] != pair.cpus[1])
        .map(|pair| (pair.cpus.map(place), pair.ns))
        .collect();
    let noise = median(pairs.iter().map(|pair| pair.relative_half).filter(|half| half.is_finite()));
    let least = FACTOR.max(1.0 + INTERVALS * noise.unwrap_or(0.0));
    let mut cuts = cuts(cpus.len(), &placed, least);
    cuts.sort_by(|a, b| b.gap.total_cmp(&a.gap));
    cuts.truncate(MOST);
    cuts.sort_by_key(|cut| cut.merges);
    // By cluster of the widest level, then of the next, each where its first CPU is.
    let mut order: Vec<usize> = (0..cpus.len()).collect();
    order.sort_by_key(|&cpu| {
        let firsts = cuts.iter().rev().map(|cut| cut.labels[cpu]);
        (firsts.collect::<Vec<_>>(), cpu)
    });
    let mut levels = Vec::new();
    let mut nearer: Option<&Cut> = None;
    for cut in &cuts {
        let own = placed.iter().filter(|([a, b], _)| {
            cut.joins(*a, *b) && !nearer.is_some_and(|nearer| nearer.joins(*a, *b))
        });
        let runs = order.chunk_by(|&a, &b| cut.joins(a, b));
        let mut from = 0;
        let ranges = runs.map(|run| {
            from += run.len();
            from - run.len()..from
        });
        levels.push(ClusterLevel {
            shared: Vec::new(),
            clusters: ranges.filter(|range| range.len() > 1).collect(),
            median_ns: median(own.map(|(_, ns)| *ns)).unwrap_or(f64::NAN),
        });
        nearer = Some(cut);
    }
    let apart = placed.iter().filter(|([a, b], _)| !nearer.is_some_and(|cut| cut.joins(*a, *b)));
    let apart_ns = median(apart.map(|(_, ns)| *ns));
    Clusters { order: order.into_iter().map(|at| cpus[at]).collect(), levels, apart_ns }
}

/// The tree cut after so many merges.
struct Cut {
    merges: usize,
    /// Of each CPU the first one of its cluster.
    labels: Vec<usize>,
    /// How many times farther the pairs between the clusters are.
    gap: f64,
}

impl Cut {
    fn joins(&self, a: usize, b: usize) -> bool {
        self.labels[a] == self.labels[b]
    }
}

/// Where the tree may be cut.
fn cuts(count: usize, pairs: &[([usize; 2], f64)], least: f64) -> Vec<Cut> {
    let tree = merges(count, pairs);
    let mut labels: Vec<usize> = (0..count).collect();
    let mut found = Vec::new();
    for (at, &(height, [kept, gone])) in tree.iter().enumerate() {
        labels.iter_mut().filter(|label| **label == gone).for_each(|label| *label = kept);
        let next = tree.get(at + 1);
        if !next.is_some_and(|(next, _)| next - height >= FACTOR.ln()) {
            continue;
        }
        let (mut within, mut between) = (Vec::new(), Vec::new());
        for &([a, b], ns) in pairs {
            if labels[a] == labels[b] { within.push(ns) } else { between.push(ns) }
        }
        let in_cluster =
            |cpu: usize| labels.iter().filter(|&&label| label == labels[cpu]).count() > 1;
        let clustered = (0..count).filter(|&cpu| in_cluster(cpu)).count();
        within.sort_by(f64::total_cmp);
        between.sort_by(f64::total_cmp);
        let ends = quantile_sorted(&between, LOW).zip(quantile_sorted(&within, HIGH));
        if let Some(gap) = ends.map(|(far, near)| far / near)
            && gap >= least
            && 2 * clustered >= count
        {
            found.push(Cut { merges: at + 1, labels: labels.clone(), gap });
        }
    }
    found
}

/// The tree: the logarithm of the mean time at which two clusters become one, named by their first CPUs.
/// Clusters without a pair between them stay apart.
fn merges(count: usize, pairs: &[([usize; 2], f64)]) -> Vec<(f64, [usize; 2])> {
    // Sum and number of the logarithms between two clusters.
    let mut sums = vec![(0.0_f64, 0_u32); count * count];
    for &([a, b], ns) in pairs {
        for at in [a * count + b, b * count + a] {
            sums[at] = (sums[at].0 + ns.ln(), sums[at].1 + 1);
        }
    }
    let mut active: Vec<usize> = (0..count).collect();
    let mut tree = Vec::new();
    let mut height = f64::NEG_INFINITY;
    loop {
        let mut nearest: Option<(f64, [usize; 2])> = None;
        for (at, &a) in active.iter().enumerate() {
            for &b in &active[at + 1..] {
                let (sum, number) = sums[a * count + b];
                let mean = sum / f64::from(number);
                if number > 0 && nearest.is_none_or(|(least, _)| mean < least) {
                    nearest = Some((mean, [a, b]));
                }
            }
        }
        let Some((mean, [kept, gone])) = nearest else { return tree };
        height = height.max(mean);
        tree.push((height, [kept, gone]));
        active.retain(|&cluster| cluster != gone);
        for &other in active.iter().filter(|&&other| other != kept) {
            let (sum, number) = sums[gone * count + other];
            for at in [kept * count + other, other * count + kept] {
                sums[at] = (sums[at].0 + sum, sums[at].1 + number);
            }
        }
    }
}
