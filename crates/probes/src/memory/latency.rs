//! The row that everything knows: what a dependent load costs, over the
//! working set.

use super::chase::{self, Restore};
use crate::points::octaves;
use meter::probe::{Derive, Effort, Probe, Shape, WorkingSet};
use model::run::{Axis, Scale};

pub(crate) fn probe() -> Probe {
    Probe {
        title: "latency of a load, by working set; its levels are L1, L2, L3, DRAM".into(),
        operation: "One dependent load: each element holds the address of the next, one element in each 64-byte line, in random order over the whole working set.".into(),
        method: "A chase on huge pages (verified; without them random within windows that the TLB holds, and the row says so). Before its samples a set up to L2 is brought back by two linear passes and two rounds; up to twice the last level by two linear passes, good for 2 ms of samples, so that it is the cost of a hit; beyond, it is left as it is. The place in the ring is carried from sample to sample. The rows /L1 /L2 /L3 /DRAM are the flat stretches of the curve, named after the caches that the machine states; a stretch that is none of them is named by its end to a power of two, /to_32MiB.".into(),
        source: "LMbench's lat_mem_rd and multichase for the chase; the bringing-back rule is ours.".into(),
        shape: Shape::Curve(Axis::WorkingSetBytes, |terrain, scale| {
            let per_octave = match scale {
                Scale::Quick => 2,
                Scale::Default => 4,
                Scale::Full => 8,
            };
            octaves(1024, terrain.largest_bytes, per_octave, 64)
        }),
        derive: Derive::Levels(&[]),
        effort: Effort {
            visits: 4,
            samples: 4,
            working_set: WorkingSet::Point(1),
            restore_ns_per_byte: 0.35,
            sample_ns: None,
        },
        make: Box::new(|bench, site| {
            Ok(Box::new(chase::random(bench, site.at[0], Restore::Rewarmed)?))
        }),
        ..Probe::blank("memory.latency")
    }
}
