//! Pictures of memory.

mod caches;
mod curves;
pub(super) mod map;
mod naive_loop;
mod phones;
mod staircase;

pub(crate) use naive_loop::NAIVE_LOOP;
pub(crate) use staircase::staircase;

use super::maker::Maker;
use model::story::core_to_core;

pub(super) const PICTURES: &[Maker] = &[
    Maker::Curves(&curves::LATENCY),
    Maker::Own("memory.naive_xor", naive_loop::naive_loop),
    Maker::Own("memory.latency_stride", curves::strides),
    Maker::Curves(&curves::AS_KURKIN),
    Maker::Curves(&curves::PAGE_WALK),
    Maker::Curves(&curves::ONE_CORE),
    Maker::Curves(&curves::COPY_FILL),
    Maker::Curves(&curves::ALL_CORES),
    Maker::Map(&map::MOUNTAIN),
    Maker::Curves(&curves::PARALLELISM),
    Maker::Curves(&curves::LOADED_LATENCY),
    Maker::Map(&map::NUMA_LATENCY),
    Maker::Map(&map::NUMA_BANDWIDTH),
];

/// Maps between CPUs and processes, which stand with the threads.
pub(super) const CORES: &[Maker] =
    &[Maker::Own(core_to_core::PROBE, map::core_to_core), Maker::Map(&map::RING)];
