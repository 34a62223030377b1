//! Pictures of memory.

mod bandwidth;
mod latency;
mod map;
mod naive_loop;
mod orders;
mod several;
mod working_set;

use super::of_run::Maker;

/// All of them, in their order.
pub(super) const PICTURES: &[Maker] = &[
    ("memory.latency", latency::latency),
    ("memory.naive_xor", naive_loop::naive_loop),
    ("memory.latency_stride", orders::strides),
    ("memory.latency_as_kurkin", orders::as_kurkin),
    ("memory.latency_tlb", orders::page_walk),
    ("memory.bandwidth", bandwidth::one_core),
    ("memory.copy", bandwidth::copy_fill),
    ("memory.all_cores", bandwidth::all_cores),
    ("memory.mountain", map::mountain),
    ("memory.parallelism", several::parallelism),
    ("memory.loaded_latency", several::loaded_latency),
    ("memory.numa.latency", map::numa_latency),
    ("memory.numa.bandwidth", map::numa_bandwidth),
];

/// Maps between CPUs and processes, which stand with the threads.
pub(super) const CORES: &[Maker] = &[
    ("memory.core_to_core", map::core_to_core),
    ("sched.ring", map::ring),
];
