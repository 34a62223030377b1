//! Reading, writing and read-modify-write of 4-byte elements, each one and
//! every 4th.

use crate::engine::points::streaming;
use kernels::checked::{Access, stream, touched, words_mut};
use meter::probe::{Effort, MachineShape, Probe, Shape, Site, Work, WorkError, WorkingSet};
use meter::worker_memory::WorkerMemory;
use model::run::Axis;
use model::unit::Unit;

/// A turn goes through at most this much.
const CHUNK_BYTES: usize = 64 << 10;

const ACCESSES: [(&str, Access, &str); 3] = [
    ("memory.read", Access::Read, "sum += p[i]"),
    ("memory.write", Access::Write, "p[i] = 1"),
    ("memory.read_write", Access::ReadWrite, "p[i] = p[i] * 2"),
];

pub(crate) fn probes() -> Vec<Probe> {
    ACCESSES.iter().map(|&(id, access, words)| probe(id, access, words)).collect()
}

fn probe(id: &'static str, access: Access, words: &'static str) -> Probe {
    Probe {
        variants: vec!["sequential".into(), "every_4th".into()],
        title: format!("speed of {words} over 4-byte elements, by working set").into(),
        operation: format!("The statement {words} for one 4-byte element; the row /every_4th goes on by 16 bytes. GB/s counts the bytes touched only.").into(),
        method: "A loop of single 4-byte accesses, unrolled 32 times and not vectorised, through the working set in pieces of at most 64 KiB, carried on from sample to sample; brought back as in memory.latency.".into(),
        source: "Dmitry Kurkin, Latency Numbers on iPhone (2018), and LMbench's bw_mem.".into(),
        unit: Unit::Bandwidth { bytes_per_op: 4.0 },
        shape: Shape::Curve(Axis::WorkingSetBytes, streaming),
        effort: STREAM_EFFORT,
        make: Box::new(move |worker, site| make(worker, site, access)),
        ..Probe::blank(id)
    }
}

/// What a point of a streaming curve deserves.
pub(super) const STREAM_EFFORT: Effort = Effort::of_memory(2, 4, WorkingSet::Point(1), 0.2);

fn make<'a>(
    worker: &'a mut WorkerMemory,
    site: &Site,
    access: Access,
) -> Result<Box<dyn Work + 'a>, WorkError> {
    let bytes = site.at[0];
    let machine = worker.machine.clone();
    let (memory, _, rng) = worker.huge(bytes)?;
    let memory = words_mut(memory);
    let chunk = (CHUNK_BYTES / 4).min(memory.len());
    let at = start(bytes, &machine, memory.len(), chunk, rng);
    Ok(Box::new(Stream {
        access,
        every_4th: site.variant == "every_4th",
        memory,
        chunk,
        at,
        machine,
    }))
}

struct Stream<'a> {
    access: Access,
    every_4th: bool,
    memory: &'a mut [u32],
    chunk: usize,
    at: usize,
    machine: MachineShape,
}

impl Work for Stream<'_> {
    fn ops_per_turn(&self) -> f64 {
        touched(self.chunk, self.every_4th) as f64
    }

    fn restore(&mut self) {
        let bytes = self.memory.len() as u64 * 4;
        if bytes <= 2 * self.machine.last_level_bytes {
            let chunks = (self.memory.len() / self.chunk) as u64;
            self.run(2 * chunks, false);
        }
    }

    fn lasts_ns(&self) -> u64 {
        lasts_ns(self.memory.len() as u64 * 4, &self.machine)
    }

    fn run(&mut self, turns: u64, _double: bool) {
        for _ in 0..turns {
            if self.at + self.chunk > self.memory.len() {
                self.at = 0;
            }
            let piece = &mut self.memory[self.at..self.at + self.chunk];
            stream(self.access, piece, self.every_4th);
            self.at += self.chunk;
        }
    }
}

/// Where a visit begins: at the head of what it can bring back; beyond that
/// somewhere in the part that smaller cells, whose working sets are the
/// buffer's head, have not just left in the last level.
pub(super) fn start(
    bytes: u64,
    machine: &MachineShape,
    length: usize,
    chunk: usize,
    rng: &mut fastrand::Rng,
) -> usize {
    let kept = 2 * machine.last_level_bytes;
    if bytes <= kept {
        return 0;
    }
    let chunks = length / chunk;
    let first = (chunks as f64 * (kept as f64 / bytes as f64)) as usize;
    rng.usize(first.min(chunks - 1)..chunks) * chunk
}

/// How long a working set of this size stays as it was brought back.
pub(super) fn lasts_ns(bytes: u64, machine: &MachineShape) -> u64 {
    if bytes > machine.l2_bytes && bytes <= 2 * machine.last_level_bytes {
        2_000_000
    } else {
        u64::MAX
    }
}
