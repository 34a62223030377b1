//! The same walk in regular order: what the prefetchers hide.

use super::chase::{Chase, Restore, elements, pages_note};
use crate::engine::points::coarse;
use crate::engine::points::octaves;
use kernels::ring::Ring;
use meter::probe::{Effort, Probe, Shape, WorkingSet};
use model::run::{Axis, Scale};

pub(crate) fn stride_probe() -> Probe {
    Probe {
        variants: ["64B", "128B", "512B", "4KiB"].map(Into::into).to_vec(),
        title: "latency of a load in regular order, by stride and working set".into(),
        operation: "One dependent load; the elements are a stride apart and are visited forward.".into(),
        method: "The chase of memory.latency with its order replaced: the difference from random order is what prefetching hides.".into(),
        source: "LMbench's lat_mem_rd without -t.".into(),
        shape: Shape::Curve(Axis::WorkingSetBytes, |machine, scale| match scale {
            Scale::Quick => crate::engine::points::levels(machine),
            scale => octaves(8 << 10, machine.largest_bytes, coarse(scale), 8 << 10),
        }),
        since: Scale::Default,
        effort: Effort::of_memory(2, 4, WorkingSet::Point(1), 0.15),
        make: Box::new(|worker, site| {
            let bytes = site.at[0];
            let stride = model::size::parse_size(&site.variant)
                .and_then(|bytes| usize::try_from(bytes).ok())
                .ok_or("a stride is a number of bytes")?;
            let machine = worker.machine.clone();
            let note = pages_note(worker, bytes).map(|_| "on base pages".to_string());
            let (memory, order, _) = worker.huge(bytes)?;
            order.forward(elements(bytes, stride)?);
            let ring = Ring::link(memory, order.offsets(stride));
            Ok(Box::new(Chase::new(ring, bytes, machine, Restore::Rewarmed).note(note)))
        }),
        ..Probe::blank("memory.latency_stride")
    }
}
