//! Ash's two memcpy rows.

use crate::engine::paired::{DIFFERENCE, of_pair};
use crate::engine::repeated::turns;
use meter::probe::{Effort, Probe, WorkingSet};

const SOURCE: &str =
    "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source.";
const MIB: usize = 1 << 20;

pub(crate) fn small() -> Probe {
    Probe {
        variants: vec!["16B".into()],
        title: "memcpy of 16 bytes".into(),
        operation: "16 bytes copied, source and destination 16 bytes into their blocks; the size is constant, so that it is a load and a store and no call.".into(),
        method: format!("{DIFFERENCE} The copies are those that a compiler makes of a constant-size memcpy.").into(),
        source: SOURCE.into(),
        make: Box::new(|_, _| of_pair(&kernels::cpu::MEMCPY_16)),
        ..Probe::blank("cpu.memcpy")
    }
}

pub(crate) fn large() -> Probe {
    Probe {
        variants: vec!["1MiB".into()],
        title: "memcpy of 1 MiB".into(),
        operation: "1 MiB copied by the platform's memcpy, source and destination 16 bytes into their blocks.".into(),
        method: "A plain loop of calls; the caches hold what they hold after two copies. His source block is never written; here it is, because on Linux unwritten pages are all the same page of zeros, which would stay in L1.".into(),
        source: SOURCE.into(),
        effort: Effort {
            working_set: WorkingSet::Fixed(2 * MIB as u64 + 8192),
            restore_ns_per_byte: 0.2,
            ..Effort::SCALAR
        },
        make: Box::new(|worker, _| {
            let (memory, ..) = worker.huge(2 * MIB as u64 + 8192)?;
            memory[..MIB + 4096].fill(3);
            let (from, to) = memory.split_at_mut(MIB + 4096);
            let (from, to) = (&from[16..16 + MIB], &mut to[16..16 + MIB]);
            let copy = move |turns| {
                for _ in 0..turns {
                    kernels::checked::copy(to, from);
                }
            };
            let work = turns(1.0, copy).restored_by(2);
            work.lasting_ns(2_000_000).boxed()
        }),
        ..Probe::blank("cpu.memcpy")
    }
}
