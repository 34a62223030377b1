//! Reading, writing and read-modify-write of 4-byte elements, each one and
//! every 4th.

use crate::engine::points::streaming;
use crate::engine::repeated::{Repeated, turns};
use kernels::checked::{Access, stream, touched, words_mut};
use meter::probe::{Effort, MachineShape, Probe, Shape, Site, Work, WorkError, WorkingSet};
use meter::worker_memory::WorkerMemory;
use model::run::Axis;
use model::unit::Unit;
use std::io;
use std::ops::Range;

/// A turn goes through at most this much.
const CHUNK_BYTES: usize = 64 << 10;

const ACCESSES: [(&str, Access, &str); 3] = [
    ("memory.read", Access::Read, "sum += p[i]"),
    ("memory.write", Access::Write, "p[i] = 1"),
    ("memory.read_write", Access::ReadWrite, "p[i] = p[i] * 2"),
];

pub(crate) fn stream_probes() -> Vec<Probe> {
    ACCESSES.iter().map(|&(id, access, words)| stream_probe(id, access, words)).collect()
}

fn stream_probe(id: &'static str, access: Access, words: &'static str) -> Probe {
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
    let every_4th = site.variant == "every_4th";
    let pieces = Pieces::of_visit(bytes, &machine, memory.len(), chunk, rng);
    let operate = move |piece| {
        stream(access, &mut memory[piece], every_4th);
    };
    pieces.repeat(touched(chunk, every_4th) as f64, operate).boxed()
}

/// A working set that is gone through in pieces, carried on from sample to sample.
pub(super) struct Pieces {
    /// Where the next one begins.
    pub(super) at: usize,
    pub(super) piece: usize,
    pub(super) length: usize,
    /// Pieces that bring it back before a visit.
    pub(super) restored_by: u64,
    /// How long it stays as it was brought back.
    pub(super) lasts_ns: u64,
}

impl Pieces {
    /// Those of a visit to a working set of so many bytes.
    pub(super) fn of_visit(
        bytes: u64,
        machine: &MachineShape,
        length: usize,
        piece: usize,
        rng: &mut fastrand::Rng,
    ) -> Pieces {
        let returns = bytes <= 2 * machine.last_level_bytes;
        Pieces {
            at: visit_start(bytes, machine, length, piece, rng),
            piece,
            length,
            restored_by: if returns { 2 * (length / piece) as u64 } else { 0 },
            lasts_ns: if returns && bytes > machine.l2_bytes { 2_000_000 } else { u64::MAX },
        }
    }

    /// Does this with one piece a turn, which is so many operations.
    pub(super) fn repeat(
        mut self,
        ops_per_turn: f64,
        mut perform: impl FnMut(Range<usize>),
    ) -> Repeated<impl FnMut(u64) -> io::Result<()>> {
        let (restored_by, lasts_ns) = (self.restored_by, self.lasts_ns);
        let run = move |turns| {
            for _ in 0..turns {
                if self.at + self.piece > self.length {
                    self.at = 0;
                }
                perform(self.at..self.at + self.piece);
                self.at += self.piece;
            }
        };
        turns(ops_per_turn, run).restored_by(restored_by).lasting_ns(lasts_ns)
    }
}

/// Where a visit begins: at the head of what it can bring back; beyond that
/// somewhere in the part that smaller cells, whose working sets are the
/// buffer's head, have not just left in the last level.
fn visit_start(
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
