//! Pictures of memory.

mod caches;
mod curves;
mod map;
mod naive_loop;

use super::of_run::Maker;

/// All of them, in their order.
pub(super) const PICTURES: &[Maker] = &[
    Maker::Curves(&curves::LATENCY),
    Maker::Own("memory.naive_xor", naive_loop::naive_loop),
    Maker::Own("memory.latency_stride", curves::strides),
    Maker::Curves(&curves::AS_KURKIN),
    Maker::Curves(&curves::PAGE_WALK),
    Maker::Curves(&curves::ONE_CORE),
    Maker::Curves(&curves::COPY_FILL),
    Maker::Curves(&curves::ALL_CORES),
    Maker::Own("memory.mountain", map::mountain),
    Maker::Curves(&curves::PARALLELISM),
    Maker::Curves(&curves::LOADED_LATENCY),
    Maker::Own("memory.numa.latency", map::numa_latency),
    Maker::Own("memory.numa.bandwidth", map::numa_bandwidth),
];

/// Maps between CPUs and processes, which stand with the threads.
pub(super) const CORES: &[Maker] = &[
    Maker::Own("memory.core_to_core", map::core_to_core),
    Maker::Own("sched.ring", map::ring),
];
