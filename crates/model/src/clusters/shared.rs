//! What the CPUs of a cluster share, as the system describes the machine.

use super::{ClusterLevel, Clusters};
use crate::figure::time;
use crate::machine::{CacheKind, Machine};
use crate::phrases::ranges;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::{self, Display};

/// A part of a machine that CPUs have in common.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// A core.
    Core,
    /// A cache of this level.
    Cache(u32),
    /// The kind of core.
    Kind,
    /// A NUMA node.
    Node,
    /// A socket.
    Socket,
}

impl Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Shared::Core => f.write_str("same core (SMT)"),
            Shared::Cache(level) => write!(f, "same L{level} cache"),
            Shared::Kind => f.write_str("same kind of core"),
            Shared::Node => f.write_str("same NUMA node"),
            Shared::Socket => f.write_str("same socket"),
        }
    }
}

/// Clusters whose CPUs are listed.
const LISTED: usize = 4;

impl ClusterLevel {
    /// What its CPUs share; `cluster` where that is not described.
    pub fn name(&self) -> String {
        let shared: Vec<String> = self.shared.iter().map(Shared::to_string).collect();
        if shared.is_empty() { "cluster".into() } else { shared.join(", ") }
    }

    /// `16 of 8 CPUs`, or between how many.
    fn sizes(&self) -> String {
        let lengths = || self.clusters.iter().map(ExactSizeIterator::len);
        match (lengths().min(), lengths().max()) {
            (Some(least), Some(most)) if least < most => {
                format!("{} of {least} to {most} CPUs", self.clusters.len())
            }
            (_, most) => format!("{} of {} CPUs", self.clusters.len(), most.unwrap_or(0)),
        }
    }
}

impl Clusters {
    /// A line for each level: `same L3 cache: 16 of 8 CPUs, 26.1 ns`, and one for the pairs beyond.
    pub fn lines(&self) -> Vec<String> {
        let of_level = |level: &ClusterLevel| {
            let cpus = |range: &std::ops::Range<usize>| {
                let cpus = self.order[range.clone()].iter();
                let mut cpus: Vec<u32> = cpus.map(|&cpu| cpu as u32).collect();
                cpus.sort_unstable();
                ranges(&cpus)
            };
            let listed: Vec<String> = level.clusters.iter().map(cpus).collect();
            let listed = match listed.len() > LISTED {
                true => String::new(),
                false => format!(" ({})", listed.join("; ")),
            };
            format!("{}: {}{listed}, {}", level.name(), level.sizes(), time(level.median_ns))
        };
        let mut lines: Vec<String> = self.levels.iter().map(of_level).collect();
        if let (false, Some(ns)) = (lines.is_empty(), self.apart_ns) {
            lines.push(format!("other pairs: {}", time(ns)));
        }
        lines
    }
}

/// Sets of two CPUs and more.
type Sets = BTreeSet<Vec<u64>>;

/// Names the levels by what the system describes with exactly the CPUs of each of their clusters; gives what it describes and the figures
/// don't show.
pub fn shared_by(clusters: &mut Clusters, machine: &Machine) -> Vec<(Shared, usize)> {
    let order = clusters.order.clone();
    let described = described(machine, &order);
    let sets_of = |ranges: &[std::ops::Range<usize>]| -> Sets {
        ranges.iter().map(|range| sorted(order[range.clone()].to_vec())).collect()
    };
    for level in &mut clusters.levels {
        let found = sets_of(&level.clusters);
        // A pair without a figure may be missing.
        let same = described.iter().filter(|(_, sets)| !found.is_empty() && found.is_subset(sets));
        level.shared = same.map(|(shared, _)| shared.clone()).collect();
        // Of sockets only the number is known.
        let sockets = machine.sockets.get().map(|&sockets| sockets as usize);
        let is_whole = found.iter().map(Vec::len).sum::<usize>() == order.len();
        if sockets.is_some_and(|sockets| sockets > 1 && sockets == found.len()) && is_whole {
            level.shared.push(Shared::Socket);
        }
    }
    let is_found = |shared: &Shared| clusters.levels.iter().any(|l| l.shared.contains(shared));
    let others = described.into_iter().filter(|(shared, _)| !is_found(shared));
    others.map(|(shared, sets)| (shared, sets.len())).collect()
}

/// What divides these CPUs, as far as it is described.
fn described(machine: &Machine, cpus: &[u64]) -> Vec<(Shared, Sets)> {
    let caches = machine.caches.get().map_or(&[][..], Vec::as_slice);
    let of_level = |level: u32| {
        let of = caches.iter().filter(|cache| cache.level == level);
        of.filter(|cache| cache.kind != CacheKind::Instruction)
            .map(|cache| &cache.shared_cpus[..])
            .collect()
    };
    let kinds = machine.core_kinds.get().map_or(&[][..], Vec::as_slice);
    let nodes = machine.numa_nodes.get().map_or(&[][..], Vec::as_slice);
    let parts: [(Shared, Vec<&[u32]>); 6] = [
        (Shared::Core, of_level(1)),
        (Shared::Cache(2), of_level(2)),
        (Shared::Cache(3), of_level(3)),
        (Shared::Cache(4), of_level(4)),
        (Shared::Kind, kinds.iter().map(|kind| &kind.cpus[..]).collect()),
        (Shared::Node, nodes.iter().map(|node| &node.cpus[..]).collect()),
    ];
    let mut all: Vec<(Shared, Sets)> = Vec::new();
    for (shared, groups) in parts {
        let here = |group: &[u32]| -> Vec<u64> {
            let own = group.iter().map(|&cpu| u64::from(cpu));
            sorted(own.filter(|cpu| cpus.contains(cpu)).collect())
        };
        let sets: Sets = groups
            .into_iter()
            .map(here)
            .filter(|set| set.len() > 1 && set.len() < cpus.len())
            .collect();
        // A core's own L2 is shared by its siblings anyway.
        let is_of_core = all.iter().any(|(first, of)| *first == Shared::Core && *of == sets);
        if sets.len() > 1 && !is_of_core {
            all.push((shared, sets));
        }
    }
    all
}

fn sorted(mut cpus: Vec<u64>) -> Vec<u64> {
    cpus.sort_unstable();
    cpus
}
