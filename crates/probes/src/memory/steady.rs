//! The same load where only the chase brings the working set back.

use super::chase::{self, Restore};
use crate::engine::points::octaves;
use meter::probe::{Effort, Probe, Shape, WorkingSet};
use model::run::{Axis, Scale};

pub(crate) fn steady_probe() -> Probe {
    Probe {
        title: "latency of a load in a working set in steady state (cache shared with neighbours)".into(),
        operation: "One dependent load, as in memory.latency, in a working set between L2 and twice the last level that the chase itself has just been through.".into(),
        method: "As memory.latency, but brought back by a whole round of the chase, which takes milliseconds: what neighbours on a shared last level evict in that time stays evicted. A hit in the last level and a load in a working set of that size are two figures, and on a shared host far apart.".into(),
        source: "Ours: no published table has what a shared last level leaves of a working set.".into(),
        shape: Shape::Curve(Axis::WorkingSetBytes, |machine, scale| {
            octaves(
                2 * machine.l2_bytes,
                (2 * machine.last_level_bytes).min(machine.largest_bytes),
                crate::engine::points::coarse(scale),
                64,
            )
        }),
        since: Scale::Default,
        extra_visits: false,
        effort: Effort::of_memory(1, 6, WorkingSet::Point(1), 2.0),
        make: Box::new(|worker, site| {
            Ok(Box::new(chase::random(worker, site.at[0], Restore::Steady)?))
        }),
        ..Probe::blank("memory.latency_steady")
    }
}
