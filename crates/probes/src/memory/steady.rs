//! The same load where nobody brings the working set back but the chase.

use super::chase::{self, Restore};
use crate::points::octaves;
use meter::probe::{Effort, Probe, Shape, WorkingSet};
use model::run::{Axis, Scale};

pub(crate) fn probe() -> Probe {
    Probe {
        title: "latency of a load in a working set as this host keeps it".into(),
        operation: "One dependent load, as in memory.latency, in a working set between L2 and twice the last level that the chase itself has just been through.".into(),
        method: "As memory.latency, but brought back by a whole round of the chase, which takes milliseconds: what neighbours on a shared last level evict meanwhile stays evicted. A hit in the last level and a working set of that size on this host are two figures, and on a shared host far apart.".into(),
        source: "Ours: what a shared last level leaves of a working set is no published row.".into(),
        shape: Shape::Curve(Axis::WorkingSetBytes, |terrain, scale| {
            octaves(
                2 * terrain.l2_bytes,
                (2 * terrain.last_level_bytes).min(terrain.largest_bytes),
                crate::points::coarse(scale),
                64,
            )
        }),
        since: Scale::Default,
        extra_visits: false,
        effort: Effort {
            visits: 1,
            samples: 6,
            working_set: WorkingSet::Point(1),
            restore_ns_per_byte: 2.0,
            sample_ns: None,
        },
        make: Box::new(|bench, site| {
            Ok(Box::new(chase::random(bench, site.at[0], Restore::Steady)?))
        }),
        ..Probe::blank("memory.latency_steady")
    }
}
