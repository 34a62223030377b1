//! The 2012 list's megabyte.

use crate::engine::repeated::turns;
use kernels::checked::read_vector;
use meter::probe::{Effort, Probe, WorkingSet};
use model::run::Bound;
use std::hint::black_box;

/// The nearest to 1 MB that whole turns of the loop make.
const PIECE_BYTES: usize = 1_000_448;

pub(crate) fn sequential_probe() -> Probe {
    Probe {
        title: "reading 1 MB in order from memory".into(),
        operation: "1 MB (1e6 bytes) read in order, by the widest vectors that every processor of this architecture has.".into(),
        method: "Successive pieces of a working set far beyond the caches, never one that was just read; the time for 1,000,448 bytes is scaled to 1e6.".into(),
        source: "The 2012 list of latency numbers, which does not say how it was read.".into(),
        bound: Bound::Memory,
        effort: Effort::of_memory(6, 6, WorkingSet::Largest, 0.0),
        make: Box::new(|worker, _| {
            let bytes = worker.machine.largest_bytes;
            let mut next = worker.rng.usize(..(bytes as usize / PIECE_BYTES).max(1));
            let (memory, ..) = worker.huge(bytes)?;
            let read = move |turns| {
                for _ in 0..turns {
                    let pieces = memory.len() / PIECE_BYTES;
                    let at = next % pieces * PIECE_BYTES;
                    black_box(read_vector(&memory[at..at + PIECE_BYTES]));
                    next += 1;
                }
            };
            turns(PIECE_BYTES as f64 / 1e6, read).boxed()
        }),
        ..Probe::blank("memory.read_sequential_1MB")
    }
}
