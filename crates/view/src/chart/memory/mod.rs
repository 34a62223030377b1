//! Pictures of memory rows: curves over the working set, the staircase of latency, maps (stride, NUMA, core
//! to core). `caches.rs` adds the levels and the cache sizes. `chart/svg` draws them.
//! `map.rs` also draws the ring of processes, the one picture here that is not of memory.

mod bands;
mod caches;
mod curves;
pub(super) mod map;
mod naive_loop;
mod pair_groups;
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
