//! Rows of the memory system: latency by working set, stride, TLB, load and NUMA node, bandwidth, page
//! faults, cache lines between cores. `chase.rs` is the pointer chase and `team.rs` the threads that several
//! rows use. Malloc and mmap are in `alloc/`.

mod all_cores;
mod as_kurkin;
mod chase;
mod copy_fill;
mod core_to_core;
mod latency;
mod loaded;
mod mountain;
mod naive_xor;
mod numa;
mod page_fault;
mod parallelism;
mod sequential;
mod steady;
mod stream;
mod stride;
mod team;
mod tlb;

use meter::probe::Probe;

pub(crate) fn memory_probes() -> Vec<Probe> {
    let mut probes = vec![
        latency::latency_probe(),
        steady::steady_probe(),
        tlb::tlb_probe(),
        stride::stride_probe(),
        as_kurkin::as_kurkin_probe(),
        as_kurkin::debug(),
    ];
    probes.extend(stream::stream_probes());
    probes.extend(copy_fill::copy_fill_probes());
    probes.extend(all_cores::all_cores_probes());
    probes.push(parallelism::parallelism_probe());
    probes.push(loaded::loaded_probe());
    probes.push(mountain::mountain_probe());
    probes.push(sequential::sequential_probe());
    probes.extend(naive_xor::naive_xor_probes());
    probes.extend(numa::numa_probes());
    probes.push(page_fault::page_fault_probe());
    probes.push(core_to_core::core_to_core_probe());
    probes
}
