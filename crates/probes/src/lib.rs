//! The catalogue: every row that latlas measures.
//!
//! Each group of rows is a folder; a row's id, texts and work stand in one
//! place there, and `engine` performs the operations. [`catalogue`] is the one
//! list behind `run`, `list`, `explain`, the completions and the tests.
// Threads of tests may panic where there are none.
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

mod alloc;
mod call;
mod codec;
mod collections;
mod cpu;
mod disk;
mod dispatch;
mod engine;
mod event_loop;
mod file;
mod handoff;
mod memory;
mod net;
mod objc;
mod pool;
mod process;
mod sched;
mod sync;
mod thread;

use meter::probe::Probe;

/// The groups of rows, in the order in which they are shown: what stands
/// before the dot of an id.
pub const GROUPS: [&str; 18] = [
    "memory",
    "cpu",
    "call",
    "alloc",
    "collections",
    "sync",
    "thread",
    "sched",
    "process",
    "dispatch",
    "pool",
    "event_loop",
    "file",
    "disk",
    "codec",
    "net",
    "objc",
    "ui",
];

/// All probes, in the order in which they are shown.
pub fn catalogue() -> Vec<Probe> {
    let groups: [fn() -> Vec<Probe>; 18] = [
        memory::probes,
        cpu::probes,
        call::probes,
        alloc::probes,
        collections::probes,
        sync::probes,
        handoff::probes,
        thread::probes,
        sched::probes,
        process::probes,
        dispatch::probes,
        pool::probes,
        event_loop::probes,
        file::probes,
        disk::probes,
        codec::probes,
        net::probes,
        objc::probes,
    ];
    groups.iter().flat_map(|probes| probes()).collect()
}
