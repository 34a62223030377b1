//! What a load costs, and how fast data streams.

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

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = vec![
        latency::probe(),
        steady::probe(),
        tlb::probe(),
        stride::probe(),
        as_kurkin::probe(),
        as_kurkin::debug(),
    ];
    probes.extend(stream::probes());
    probes.extend(copy_fill::probes());
    probes.extend(all_cores::probes());
    probes.push(parallelism::probe());
    probes.push(loaded::probe());
    probes.push(mountain::probe());
    probes.push(sequential::probe());
    probes.extend(naive_xor::probes());
    probes.extend(numa::probes());
    probes.push(page_fault::probe());
    probes.push(core_to_core::probe());
    probes
}
