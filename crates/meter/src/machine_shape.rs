//! What the plan and the probes know of the machine.

use crate::scratch::{ScratchDir, ScratchError};
use model::machine::{CacheKind, Machine, NumaNode};

/// The machine as the plan lays out its curves and the probes their work.
#[derive(serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq)]
pub struct MachineShape {
    /// L1 data cache as the OS says, bytes; 32 KiB where unknown.
    pub l1_bytes: u64,
    /// L2, bytes; 512 KiB where unknown.
    pub l2_bytes: u64,
    /// Last level as one core reaches it, bytes; 8 MiB where unknown.
    pub last_level_bytes: u64,
    /// Whether the last level is known to run at the cores' clock.
    pub last_level_at_core_clock: bool,
    /// Largest working set of a large worker, bytes.
    pub largest_bytes: u64,
    /// CPUs this process may use, sorted.
    pub cpus: Vec<u32>,
    /// The CPU the workers are pinned to, where pinning works.
    pub pinned: Option<u32>,
    /// Base page, bytes.
    pub page_bytes: u64,
    /// Huge page that can be had, bytes.
    pub huge_page_bytes: Option<u64>,
    /// The `latlas echo` to talk to on another machine, as `HOST:PORT`.
    pub peer: Option<String>,
    /// NUMA nodes, each with those of its CPUs that may be used; empty where
    /// the system shows none.
    pub nodes: Vec<NumaNode>,
    /// Where rows of files put theirs, or why they can't.
    pub scratch: Result<ScratchDir, ScratchError>,
}

impl Default for MachineShape {
    /// What is assumed where the system says nothing: small caches, one CPU,
    /// base pages of 4 KiB, and no memory yet.
    fn default() -> MachineShape {
        MachineShape {
            l1_bytes: 32 << 10,
            l2_bytes: 512 << 10,
            last_level_bytes: 8 << 20,
            last_level_at_core_clock: false,
            largest_bytes: 0,
            cpus: vec![0],
            pinned: None,
            page_bytes: 4096,
            huge_page_bytes: None,
            peer: None,
            nodes: Vec::new(),
            scratch: Err(ScratchError::NotChosen),
        }
    }
}

impl MachineShape {
    /// The shape of this machine for a process on these CPUs, pinned to one of
    /// them.
    pub fn from_machine(machine: &Machine, cpus: Vec<u32>, pinned: Option<u32>) -> MachineShape {
        let empty = Vec::new();
        let caches = machine.caches.get().unwrap_or(&empty);
        let size = |level: u32| {
            caches
                .iter()
                .filter(|c| c.level == level && c.kind != CacheKind::Instruction)
                .filter(|c| {
                    let reached =
                        |cpu: &u32| c.shared_cpus.is_empty() || c.shared_cpus.contains(cpu);
                    pinned.map_or_else(|| cpus.iter().any(reached), |cpu| reached(&cpu))
                })
                .filter_map(|c| c.size_bytes)
                .max()
        };
        let last = caches.iter().map(|c| c.level).max().and_then(size);
        let l2_bytes = size(2).unwrap_or(512 << 10);
        MachineShape {
            l1_bytes: size(1).unwrap_or(32 << 10),
            l2_bytes,
            last_level_bytes: last.unwrap_or(8 << 20).max(l2_bytes),
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
            scratch: MachineShape::default().scratch,
        }
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

/// CPUs this process may use, as the machine facts have them.
pub fn allowed_cpus(machine: &Machine) -> Vec<u32> {
    machine
        .allowed_cpus
        .get()
        .or(machine.online_cpus.get())
        .cloned()
        .filter(|cpus| !cpus.is_empty())
        .unwrap_or_else(|| vec![0])
}
