//! The 2012 list's megabyte.

use kernels::checked::read_vector;
use meter::probe::{Effort, Probe, Work, WorkingSet};
use model::run::Bound;

/// The nearest to 1 MB that whole turns of the loop make.
const PIECE_BYTES: usize = 1_000_448;

pub(crate) fn probe() -> Probe {
    Probe {
        title: "reading 1 MB in order from memory".into(),
        operation: "1 MB (1e6 bytes) read in order, by the widest vectors that every processor of this architecture has.".into(),
        method: "Successive pieces of a working set far beyond the caches, never one that was just read; the time for 1,000,448 bytes is scaled to 1e6.".into(),
        source: "The 2012 list of latency numbers, which does not say how it was read.".into(),
        bound: Bound::Memory,
        effort: Effort {
            visits: 6,
            samples: 6,
            working_set: WorkingSet::Largest,
            restore_ns_per_byte: 0.0,
            sample_ns: None,
        },
        make: Box::new(|bench, _| {
            let bytes = bench.terrain.largest_bytes;
            let start = bench.rng.usize(..(bytes as usize / PIECE_BYTES).max(1));
            let (memory, ..) = bench.huge(bytes)?;
            Ok(Box::new(Pieces { memory, start }))
        }),
        ..Probe::blank("memory.read_sequential_1MB")
    }
}

struct Pieces<'a> {
    memory: &'a [u8],
    start: usize,
}

impl Work for Pieces<'_> {
    fn ops_per_turn(&self) -> f64 {
        PIECE_BYTES as f64 / 1e6
    }
    fn run(&mut self, turns: u64, _double: bool) {
        for _ in 0..turns {
            let pieces = self.memory.len() / PIECE_BYTES;
            let at = self.start % pieces * PIECE_BYTES;
            std::hint::black_box(read_vector(&self.memory[at..at + PIECE_BYTES]));
            self.start += 1;
        }
    }
}
