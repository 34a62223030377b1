//! The row that everything knows: what a dependent load costs, over the
//! working set.

use super::chase::{self, Restore};
use crate::engine::points::octaves;
use meter::probe::{Derive, Effort, Probe, Shape, WorkingSet};
use model::run::{Axis, Scale};

pub(crate) fn latency_probe() -> Probe {
    Probe {
        title: "latency of a load, by working set; its levels are L1, L2, L3, DRAM".into(),
        operation: "One dependent load: each element holds the address of the next, one element in each 64-byte line, in random order over the whole working set.".into(),
        method: "A chase on huge pages (verified; without them random within windows that the TLB holds, and the row says so). Before its samples a set up to L2 is brought back by two linear passes and two rounds; up to twice the last level by two linear passes, good for 2 ms of samples, so that it is the cost of a hit; beyond, it is left as it is. The place in the ring is carried from sample to sample. The rows /L1 /L2 /L3 /DRAM are the plateaus of the curve, named after the caches that the machine states; other plateaus are named after their upper end, e.g. /to_32MiB.".into(),
        source: "LMbench's lat_mem_rd and multichase for the chase; the rule for bringing the set back is ours.".into(),
        shape: Shape::Curve(Axis::WorkingSetBytes, |machine, scale| {
            let per_octave = match scale {
                Scale::Quick => 2,
                Scale::Default => 4,
                Scale::Full => 8,
            };
            octaves(1024, machine.largest_bytes, per_octave, 64)
        }),
        derive: Derive::Levels(&[]),
        effort: Effort::of_memory(4, 4, WorkingSet::Point(1), 0.35),
        make: Box::new(|worker, site| {
            Ok(Box::new(chase::random(worker, site.at[0], Restore::Rewarmed)?))
        }),
        ..Probe::blank("memory.latency")
    }
}
