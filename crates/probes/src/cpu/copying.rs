//! Ash's two memcpy rows.

use crate::paired::{DIFFERENCE, of_kernel};
use meter::probe::{Effort, Probe, Work, WorkingSet};

const SOURCE: &str =
    "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source.";
const MIB: usize = 1 << 20;

/// 16 bytes.
pub(crate) fn small() -> Probe {
    Probe {
        variants: vec!["16B".into()],
        title: "memcpy of 16 bytes".into(),
        operation: "16 bytes copied, source and destination 16 bytes into their blocks; the size is constant, so that it is a load and a store and no call.".into(),
        method: format!("{DIFFERENCE} The copies are those that a compiler makes of a constant-size memcpy.").into(),
        source: SOURCE.into(),
        make: Box::new(|_, _| of_kernel("memcpy/16B")),
        ..Probe::blank("cpu.memcpy")
    }
}

/// One MiB.
pub(crate) fn large() -> Probe {
    Probe {
        variants: vec!["1MiB".into()],
        title: "memcpy of 1 MiB".into(),
        operation: "1 MiB copied by the platform's memcpy, source and destination 16 bytes into their blocks.".into(),
        method: "A plain loop of calls; the caches hold what they hold after two copies. His source block is never written; ours is, because on Linux unwritten pages are all the same page of zeros, which would stay in L1.".into(),
        source: SOURCE.into(),
        effort: Effort {
            working_set: WorkingSet::Fixed(2 * MIB as u64 + 8192),
            restore_ns_per_byte: 0.2,
            ..Effort::SCALAR
        },
        make: Box::new(|bench, _| {
            let (memory, ..) = bench.huge(2 * MIB as u64 + 8192)?;
            memory[..MIB + 4096].fill(3);
            let (from, to) = memory.split_at_mut(MIB + 4096);
            Ok(Box::new(Copying {
                from: &from[16..16 + MIB],
                to: &mut to[16..16 + MIB],
            }))
        }),
        ..Probe::blank("cpu.memcpy")
    }
}

struct Copying<'a> {
    from: &'a [u8],
    to: &'a mut [u8],
}

impl Work for Copying<'_> {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn restore(&mut self) {
        self.run(2, false);
    }
    fn lasts_ns(&self) -> u64 {
        2_000_000
    }
    fn run(&mut self, turns: u64, _double: bool) {
        for _ in 0..turns {
            kernels::checked::copy(self.to, self.from);
        }
    }
}
