//! Memory from node to node of a machine whose memory is nearer to some CPUs
//! than to others.

use super::chase::{self, Restore};
use super::stream::Pieces;
use crate::engine::reason::Reason;
use crate::engine::threads::Pinned;
use kernels::checked::read_vector;
use meter::probe::{Effort, MachineShape, Probe, Shape, Site, Work, WorkError, WorkingSet};
use meter::worker_memory::WorkerMemory;
use model::run::{Axis, Bound, Scale};
use model::unit::Unit;
use std::hint::black_box;

/// Lines of the maps, short of `--full`.
const LINES: usize = 2;

/// A turn of reading.
const PIECE_BYTES: usize = 64 << 10;

pub(crate) fn numa_probes() -> Vec<Probe> {
    const METHOD: &str = "the largest working set, bound to the node of the column (mbind) and seen to be there (move_pages), by a worker that is pinned to a CPU of the line's node for the batch. The default run has the lines of the first two nodes, --full all.";
    vec![
        Probe {
            variants: vec!["latency".into()],
            title: "latency of memory from NUMA node to NUMA node".into(),
            operation: "One dependent load by a CPU of one NUMA node (down) from memory of the same or another one (across).".into(),
            method: format!("The chase of memory.latency through {METHOD}").into(),
            make: Box::new(|worker, site| {
                let (home, memory) = pin_to_node(worker, site)?;
                let bytes = worker.machine.largest_bytes;
                let work = chase::random_on(worker, bytes, Restore::Rewarmed, Some(memory))?;
                Ok(Box::new(Away { work, _home: home }))
            }),
            ..numa_probe()
        },
        Probe {
            variants: vec!["bandwidth".into()],
            title: "reading speed of memory from NUMA node to NUMA node".into(),
            operation: "One byte read in order, by the widest vectors that every processor of this architecture has, by one CPU of one NUMA node (down) from memory of the same or another one (across).".into(),
            method: format!("Pieces of 64 KiB, one after the other and carried on from sample to sample, of {METHOD}").into(),
            unit: Unit::Bandwidth { bytes_per_op: 1.0 },
            make: Box::new(|worker, site| {
                let (home, memory) = pin_to_node(worker, site)?;
                let bytes = worker.machine.largest_bytes;
                let (memory, _, rng) = worker.on_node(bytes, memory)?;
                let pieces = memory.len() / PIECE_BYTES;
                if pieces == 0 {
                    return Err(Reason::wrong("the largest working set here is smaller than 64KiB").into());
                }
                let pieces = Pieces {
                    at: rng.usize(..pieces) * PIECE_BYTES,
                    piece: PIECE_BYTES,
                    length: memory.len(),
                    restored_by: 0,
                    lasts_ns: u64::MAX,
                };
                let read = |piece| {
                    black_box(read_vector(&memory[piece]));
                };
                let work = pieces.repeat(PIECE_BYTES as f64, read);
                Ok(Box::new(Away { work, _home: home }))
            }),
            ..numa_probe()
        },
    ]
}

fn numa_probe() -> Probe {
    Probe {
        source: "Ours; Intel's Memory Latency Checker prints the same two matrices.".into(),
        bound: Bound::Memory,
        since: Scale::Default,
        shape: Shape::Map { y: (Axis::Node, usable_nodes), x: (Axis::Node, columns) },
        effort: Effort {
            visits: 2,
            samples: 8,
            working_set: WorkingSet::Largest,
            // The buffer is made on the node, and made again by the next row.
            restore_ns_per_byte: 1.2,
            sample_ns: None,
        },
        unavailable,
        ..Probe::blank("memory.numa")
    }
}

fn unavailable(machine: &MachineShape) -> Option<String> {
    let reason = match machine.nodes.len() {
        0 => "this system shows no NUMA nodes",
        1 => "one NUMA node",
        _ if usable_nodes(machine, Scale::Full).is_empty() => {
            "none of the CPUs that may be used belongs to a NUMA node"
        }
        _ => return None,
    };
    Some(reason.into())
}

/// Nodes that have a CPU that may be used.
fn usable_nodes(machine: &MachineShape, scale: Scale) -> Vec<u64> {
    let most = match scale {
        Scale::Full => usize::MAX,
        Scale::Quick | Scale::Default => LINES,
    };
    machine
        .nodes
        .iter()
        .filter(|node| !node.cpus.is_empty())
        .map(|node| u64::from(node.id))
        .take(most)
        .collect()
}

/// Nodes that have memory.
fn columns(machine: &MachineShape, _: Scale) -> Vec<u64> {
    machine
        .nodes
        .iter()
        .filter(|node| node.memory_bytes > 0)
        .map(|node| u64::from(node.id))
        .collect()
}

/// Pins the worker to a CPU of the line's node; gives the column's node.
fn pin_to_node(worker: &mut WorkerMemory, site: &Site) -> Result<(Pinned, u32), WorkError> {
    let (line, column) = (site.at[0], site.at[1]);
    let node = |id: u64| {
        let node = worker.machine.nodes.iter().find(|n| u64::from(n.id) == id);
        node.ok_or_else(|| format!("there is no NUMA node {id}"))
    };
    let cpus = node(line)?.cpus.clone();
    let memory = node(column)?.id;
    let here = sys::affinity::current_cpu();
    let cpu = match here.filter(|cpu| cpus.contains(cpu)) {
        Some(cpu) => cpu,
        // Another one each time: no single CPU represents its node.
        None => *cpus
            .get(worker.rng.usize(..cpus.len().max(1)))
            .ok_or_else(|| format!("no CPU of NUMA node {line} may be used"))?,
    };
    Ok((Pinned::to(&[cpu])?, memory))
}

struct Away<W> {
    work: W,
    _home: Pinned,
}

impl<W: Work> Work for Away<W> {
    fn ops_per_turn(&self) -> f64 {
        self.work.ops_per_turn()
    }
    fn restore(&mut self) {
        self.work.restore();
    }
    fn lasts_ns(&self) -> u64 {
        self.work.lasts_ns()
    }
    fn turn_step(&self) -> u64 {
        self.work.turn_step()
    }
    fn run(&mut self, turns: u64, double: bool) {
        self.work.run(turns, double);
    }
    fn notes(&self) -> Vec<String> {
        self.work.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::machine::NumaNode;
    use sys::pages::PageKind;

    fn node(id: u32, cpus: &[u32], memory_bytes: u64) -> NumaNode {
        NumaNode { id, cpus: cpus.to_vec(), memory_bytes }
    }

    fn with(nodes: Vec<NumaNode>) -> MachineShape {
        let machine = model::machine::Machine::unknown("x86_64", "a test");
        let mut machine =
            meter::machine_shape::MachineShape::from_machine(&machine, vec![0, 1], None);
        machine.nodes = nodes;
        machine.largest_bytes = 4 << 20;
        machine
    }

    #[test]
    fn lines_run_and_columns_are_read() {
        let machine = with(vec![
            node(0, &[0], 1 << 30),
            node(1, &[], 1 << 30),
            node(2, &[1], 0),
            node(3, &[2], 1 << 30),
        ]);
        assert_eq!(usable_nodes(&machine, Scale::Full), [0, 2, 3]);
        assert_eq!(usable_nodes(&machine, Scale::Default), [0, 2]);
        assert_eq!(columns(&machine, Scale::Default), [0, 1, 3]);
        assert_eq!(unavailable(&machine), None);
    }

    #[test]
    fn one_node_is_a_reason() {
        assert_eq!(
            unavailable(&with(vec![node(0, &[0, 1], 1 << 30)])).as_deref(),
            Some("one NUMA node")
        );
        assert!(unavailable(&with(vec![])).is_some_and(|why| why.contains("no NUMA nodes")));
        let elsewhere = with(vec![node(0, &[], 1), node(1, &[], 1)]);
        assert!(unavailable(&elsewhere).is_some_and(|why| why.contains("none of the CPUs")));
    }

    /// The work itself, on a machine with at least one node: the first one to
    /// itself.
    #[test]
    fn a_worker_reads_a_nodes_memory_and_comes_home() {
        let machine = sys::machine_facts(std::path::Path::new("/"));
        let home = sys::affinity::allowed_cpus().expect("affinity");
        let nodes = machine.numa_nodes.get().cloned().unwrap_or_default();
        let mut machine = with(nodes);
        for node in &mut machine.nodes {
            node.cpus.retain(|cpu| home.contains(cpu));
        }
        let local = machine
            .nodes
            .iter()
            .find(|node| !node.cpus.is_empty() && node.memory_bytes > 0)
            .cloned();
        let id = u64::from(local.as_ref().map_or(0, |node| node.id));
        let site = Site { variant: String::new(), at: vec![id, id] };
        for probe in numa_probes() {
            let mut worker = WorkerMemory::new(machine.clone(), 4 << 20, 0, 1);
            // Before and after, the same buffer serves other rows.
            worker.huge(1 << 20).expect("memory").0.fill(1);
            match ((probe.make)(&mut worker, &site), &local) {
                (Ok(mut work), Some(local)) => {
                    let cpus = sys::affinity::allowed_cpus().expect("affinity");
                    assert!(cpus.len() == 1 && local.cpus.contains(&cpus[0]), "{cpus:?}");
                    work.restore();
                    work.run(work.turn_step() * 3, false);
                    assert!(work.ops_per_turn() >= 1.0);
                    assert_eq!(work.verify(), Ok(()));
                }
                (Ok(_), None) => panic!("a work on a node that is not there"),
                (Err(why), None) => assert!(why.to_string().contains("no NUMA node"), "{why}"),
                // An emulator, or a container's policy.
                (Err(why), Some(local)) => {
                    let asked = sys::numa::buffer_on(local.id, 4096, PageKind::Base);
                    assert!(asked.is_err(), "{why}");
                }
            }
            assert_eq!(sys::affinity::allowed_cpus().expect("affinity"), home);
            let (memory, ..) = worker.huge(4 << 20).expect("memory");
            assert!(memory.iter().all(|&byte| byte == 0), "a buffer of its own");
        }
    }

    #[test]
    fn a_node_that_is_not_there_is_a_reason() {
        let cpu = sys::affinity::current_cpu().unwrap_or(0);
        let mut worker =
            WorkerMemory::new(with(vec![node(0, &[cpu], 1), node(900, &[], 1)]), 4 << 20, 0, 1);
        for probe in numa_probes() {
            for (line, column) in [(0, 900), (900, 0), (0, 7)] {
                let at = vec![line, column];
                let site = Site { variant: String::new(), at };
                let why = (probe.make)(&mut worker, &site).err().expect("no such node");
                assert!(why.to_string().contains("NUMA node"), "{why}");
            }
        }
    }
}
