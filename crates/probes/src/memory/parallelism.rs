//! How many loads the memory system serves at once.

use super::chase::elements;
use kernels::ring::Ring;
use meter::probe::{Effort, MachineShape, Probe, Shape, Work, WorkingSet};
use meter::worker_memory::LINE_BYTES;
use model::run::{Axis, Scale};

pub(crate) fn parallelism_probe() -> Probe {
    Probe {
        variants: ["L2", "L3", "DRAM"].map(Into::into).to_vec(),
        title: "cost of a load while several chases run at once".into(),
        operation: "One load of several independent chases in one loop: the time of the loop divided by all its loads.".into(),
        method: "One ring through half of L2, a quarter of the last level or the largest working set; the chases start spread along it and run in step. Where the curve stops falling, no more loads overlap: the first point over the lowest is their number.".into(),
        source: "LMbench's par_mem, which runs up to sixteen chases at once.".into(),
        since: Scale::Full,
        shape: Shape::Curve(Axis::Chases, |_, scale| {
            let all = kernels::PARALLEL_CHASES.iter().map(|&n| n as u64);
            all.filter(|n| scale != Scale::Quick || [1, 4, 12].contains(n))
                .collect()
        }),
        effort: Effort {
            visits: 2,
            samples: 4,
            // The largest of its variants decides which workers visit it.
            working_set: WorkingSet::Largest,
            restore_ns_per_byte: 0.5,
            sample_ns: None,
        },
        make: Box::new(|worker, site| {
            let bytes = working_set(&site.variant, &worker.machine);
            let count = site.at[0] as usize;
            let in_caches = bytes <= worker.machine.last_level_bytes;
            let (memory, order, rng) = worker.huge(bytes)?;
            order.shuffle(elements(bytes, LINE_BYTES)?, rng.u64(..));
            let ring = Ring::link(memory, order.offsets(LINE_BYTES));
            Ok(Box::new(Parallel {
                ring,
                count,
                in_caches,
            }))
        }),
        ..Probe::blank("memory.parallelism")
    }
}

fn working_set(variant: &str, machine: &MachineShape) -> u64 {
    match variant {
        "L2" => machine.l2_bytes / 2,
        "L3" => machine.last_level_bytes / 4,
        _ => machine.largest_bytes,
    }
}

struct Parallel<'a> {
    ring: Ring<'a>,
    count: usize,
    in_caches: bool,
}

impl Work for Parallel<'_> {
    fn ops_per_turn(&self) -> f64 {
        self.count as f64
    }
    fn restore(&mut self) {
        if self.in_caches {
            self.ring.linear_pass();
            self.ring.linear_pass();
        }
    }
    fn lasts_ns(&self) -> u64 {
        if self.in_caches { 2_000_000 } else { u64::MAX }
    }
    fn turn_step(&self) -> u64 {
        kernels::CHASE_UNROLL
    }
    fn run(&mut self, turns: u64, _double: bool) {
        self.ring.run_spread(self.count, turns);
    }
}
