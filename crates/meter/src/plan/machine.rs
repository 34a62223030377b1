//! What the probes need to know of the machine.

use super::MIB;
use crate::probe::Terrain;
use model::machine::{CacheKind, Machine, NumaNode};

/// CPUs this process may use, as the machine facts have them.
pub fn allowed(machine: &Machine) -> Vec<u32> {
    machine
        .allowed_cpus
        .get()
        .or(machine.online_cpus.get())
        .cloned()
        .filter(|cpus| !cpus.is_empty())
        .unwrap_or_else(|| vec![0])
}

/// What the probes need to know of the machine.
pub fn terrain(machine: &Machine, cpus: Vec<u32>, pinned: Option<u32>) -> Terrain {
    let empty = Vec::new();
    let caches = machine.caches.get().unwrap_or(&empty);
    let size = |level: u32| {
        caches
            .iter()
            .filter(|c| c.level == level && c.kind != CacheKind::Instruction)
            .filter(|c| {
                let reached = |cpu: &u32| c.shared_cpus.is_empty() || c.shared_cpus.contains(cpu);
                pinned.map_or_else(|| cpus.iter().any(reached), |cpu| reached(&cpu))
            })
            .filter_map(|c| c.size_bytes)
            .max()
    };
    let last = caches.iter().map(|c| c.level).max().and_then(size);
    let l2_bytes = size(2).unwrap_or(512 << 10);
    Terrain {
        l1_bytes: size(1).unwrap_or(32 << 10),
        l2_bytes,
        last_level_bytes: last.unwrap_or(8 * MIB).max(l2_bytes),
        // AMD's manuals: the L3 of a Zen core complex runs at the clock of its
        // cores. Elsewhere it may have one of its own.
        last_level_at_core_clock: machine
            .microarchitecture
            .get()
            .is_some_and(|name| name.starts_with("Zen")),
        largest_bytes: 0,
        nodes: nodes(machine, &cpus),
        cpus,
        pinned,
        page_bytes: machine.pages.base_bytes.get().copied().unwrap_or(4096),
        huge_page_bytes: machine.pages.transparent_huge_bytes.get().copied(),
        peer: None,
        scratch: Terrain::default().scratch,
    }
}

/// The machine's NUMA nodes with those of their CPUs that are among `cpus`.
fn nodes(machine: &Machine, cpus: &[u32]) -> Vec<NumaNode> {
    let mut nodes = machine.numa_nodes.get().cloned().unwrap_or_default();
    for node in &mut nodes {
        node.cpus.retain(|cpu| cpus.contains(cpu));
    }
    nodes
}
