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
pub mod synonyms;
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
        memory::memory_probes,
        cpu::cpu_probes,
        call::call_probes,
        alloc::alloc_probes,
        collections::collections_probes,
        sync::sync_probes,
        handoff::handoff_probes,
        thread::thread_probes,
        sched::sched_probes,
        process::process_probes,
        dispatch::dispatch_probes,
        pool::pool_probes,
        event_loop::event_loop_probes,
        file::file_probes,
        disk::disk_probes,
        codec::codec_probes,
        net::net_probes,
        objc::objc_probes,
    ];
    groups.iter().flat_map(|probes| probes()).collect()
}
