//! What a miss of the TLB adds to a load.

use super::chase::{Chase, Restore, elements};
use crate::engine::points::octaves;
use crate::engine::reason::Reason;
use kernels::ring::Ring;
use meter::probe::{Effort, Probe, Shape, WorkingSet};
use meter::worker_memory::LINE_BYTES;
use model::run::{Axis, Scale};

pub(crate) fn tlb_probe() -> Probe {
    Probe {
        variants: vec!["4KiB".into(), "huge".into()],
        title: "latency of a load from one line per base page, on base and on huge pages".into(),
        operation: "One dependent load; one element in each length of a base page (4 KiB; 16 KiB on Apple systems), in random order.".into(),
        method: "The same chase over the same lines on base pages (row /4KiB, whatever their size) and on huge pages: the difference is the cost of page walks. The line within the page is random too, or all elements would fall into one set of the first level.".into(),
        source: "The usual TLB chase; the random line is ours.".into(),
        shape: Shape::Curve(Axis::WorkingSetBytes, |machine, scale| {
            let per_octave = if scale == Scale::Full { 4 } else { 1 };
            octaves(64 << 10, (64 << 20).min(machine.largest_bytes), per_octave, machine.page_bytes)
        }),
        since: Scale::Default,
        effort: Effort::of_memory(3, 3, WorkingSet::Point(1), 0.02),
        second_buffer: true,
        make: Box::new(|worker, site| {
            let bytes = site.at[0];
            let machine = worker.machine.clone();
            let apart = machine.page_bytes as usize;
            let huge = site.variant == "huge";
            if huge && super::chase::pages_note(worker, bytes).is_some() {
                return Err(Reason::wrong("the system gave no huge pages").into());
            }
            let (memory, order, rng) = if huge {
                worker.huge(bytes)?
            } else {
                worker.base(bytes)?
            };
            let pages = elements(bytes, apart)?;
            order.shuffle(pages, rng.u64(..));
            let lines = apart / LINE_BYTES;
            let random_lines: Vec<usize> = (0..pages).map(|_| rng.usize(..lines)).collect();
            let offsets = order
                .offsets(apart)
                .zip(random_lines)
                .map(|(page, line)| page + line * LINE_BYTES);
            let ring = Ring::link(memory, offsets);
            // Whole rounds bring lines and translations back alike.
            Ok(Box::new(Chase::new(ring, bytes, machine, Restore::Steady)))
        }),
        ..Probe::blank("memory.latency_tlb")
    }
}
