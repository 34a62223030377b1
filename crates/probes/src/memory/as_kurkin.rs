//! The walk of the iPhone study, to compare with its figures.

use super::chase::{Chase, Restore};
use crate::engine::points::octaves;
use kernels::ring::Ring;
use meter::probe::{Derive, Effort, Probe, Shape, WorkingSet};
use meter::worker_memory::{ChaseOrder, LINE_BYTES};
use model::run::{Axis, Scale};

/// Where his curve ends.
const LARGEST_BYTES: u64 = 64 << 20;
const SOURCE: &str = "Dmitry Kurkin, Latency Numbers on iPhone (2018), read in his port of LMbench: 64-byte lines, another page on every hop.";

pub(crate) fn as_kurkin_probe() -> Probe {
    Probe {
        title: "latency of a load in the iPhone study's order".into(),
        operation: "One dependent load in a walk that goes to another page on every hop, pages and lines within them in random order.".into(),
        method: "His walk on the machine's base pages (4 KiB; 16 KiB on Apple systems), in an optimised loop that keeps the pointer in a register, brought back as in memory.latency. He took the smallest of eleven tries; this row is the median of the quiet samples. The row /64MiB is the curve's last point, which he calls memory, whatever serves it here. Which build his figures come from is unknown: an unoptimised one reads as memory.latency_as_debug.".into(),
        source: SOURCE.into(),
        shape: Shape::Curve(Axis::WorkingSetBytes, |machine, _| {
            let mut points = vec![512, 1024, 2048];
            points.extend(octaves(4096, LARGEST_BYTES.min(machine.largest_bytes), 4, 64));
            points
        }),
        // His figure of memory is the curve's last point.
        derive: Derive::Levels(&[("64MiB", LARGEST_BYTES)]),
        since: Scale::Default,
        effort: Effort::of_memory(2, 4, WorkingSet::Point(1), 0.35),
        second_buffer: true,
        make: Box::new(|worker, site| {
            let bytes = site.at[0];
            let machine = worker.machine.clone();
            let (memory, order, rng) = worker.base(bytes)?;
            walk(order, bytes, machine.page_bytes, rng.u64(..));
            let ring = Ring::link(memory, order.offsets(LINE_BYTES));
            Ok(Box::new(Chase::new(ring, bytes, machine, Restore::Rewarmed)))
        }),
        ..Probe::blank("memory.latency_as_kurkin")
    }
}

pub(crate) fn debug() -> Probe {
    Probe {
        variants: vec!["L1".into()],
        title: "latency of a load from L1 in an unoptimised build".into(),
        operation: "One dependent load from half of L1, the pointer stored to the stack and loaded from it again after each, as an unoptimised compiler writes it.".into(),
        method: "The chase of memory.latency_as_kurkin with the two further memory operations in its loop: a possible reason why the study's L1 figures are high.".into(),
        source: SOURCE.into(),
        // A quick run's large workers have no room for a second buffer.
        since: Scale::Default,
        second_buffer: true,
        effort: Effort {
            working_set: WorkingSet::Fixed(16 << 10),
            ..Effort::SCALAR
        },
        make: Box::new(|worker, _| {
            let bytes = (worker.machine.l1_bytes / 2).min(16 << 10);
            let machine = worker.machine.clone();
            let (memory, order, rng) = worker.base(bytes)?;
            walk(order, bytes, machine.page_bytes, rng.u64(..));
            let ring = Ring::link(memory, order.offsets(LINE_BYTES));
            Ok(Box::new(Chase::new(ring, bytes, machine, Restore::Rewarmed).on_stack()))
        }),
        ..Probe::blank("memory.latency_as_debug")
    }
}

/// His order: one line of each page in turn, pages in random order, then
/// another line of each; the lines of a page in random order, each page
/// beginning at another of them.
fn walk(order: &mut ChaseOrder, bytes: u64, page_bytes: u64, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let lines = (bytes as usize / LINE_BYTES).max(1);
    let lines_per_page = page_bytes as usize / LINE_BYTES;
    let pages = lines.div_ceil(lines_per_page);
    let mut page_order: Vec<usize> = (0..pages).collect();
    rng.shuffle(&mut page_order);
    let mut line_order: Vec<usize> = (0..lines_per_page.min(lines)).collect();
    rng.shuffle(&mut line_order);
    let hops = (0..line_order.len()).flat_map(|i| {
        let line_order = &line_order;
        page_order
            .iter()
            .enumerate()
            .map(move |(k, &page)| page * lines_per_page + line_order[(i + k) % line_order.len()])
    });
    order.set(hops.filter(|&line| line < lines).map(|line| line as u32));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hop_goes_to_another_page_and_every_line_is_visited() {
        let mut order = ChaseOrder::default();
        // Apple systems have pages of 16 KiB.
        for page_bytes in [4096, 16384] {
            walk(&mut order, 1 << 20, page_bytes, 5);
            let lines = order.elements().to_vec();
            let page = |line: u32| u64::from(line) * 64 / page_bytes;
            assert!(lines.windows(2).all(|hop| page(hop[0]) != page(hop[1])));
            let mut sorted = lines;
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..16384));
        }
        walk(&mut order, 512, 4096, 5);
        assert_eq!(order.elements().len(), 8);
        walk(&mut order, 4864, 4096, 5);
        assert_eq!(order.elements().len(), 76, "a page and a part of one");
    }
}
