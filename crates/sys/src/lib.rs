//! What latlas asks of the operating system and the CPU: clocks, pinning,
//! pages, evidence about the measuring thread, and raw facts. Every line of
//! `unsafe`, of libc and of `cfg(target_os)` outside the measured kernels is
//! here. This crate decides nothing, prints nothing and keeps no statistics.
//!
//! One topic is one file. Where it has much code of one operating system, that
//! is in `linux/` and `apple/`, chosen in `platform.rs`; the architecture of a
//! clock is chosen in `clock/mod.rs`.
#![warn(missing_docs)]
// Threads of tests may panic where there are none.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod affinity;
pub mod allocator;
pub mod ancestors;
pub mod attached;
pub mod attributes;
pub mod capture;
pub mod child;
pub mod clock;
pub mod command;
pub mod controls;
pub mod counters;
pub mod cpu_feature;
pub mod cpu_times;
pub mod cpu_weight;
mod cpuid;
pub mod direct_io;
pub mod dispatch;
pub mod eventfd;
pub mod evidence;
mod file_kind;
pub mod file_mapping;
pub mod files;
pub mod filesystem;
pub mod futex;
pub mod groups;
pub mod heap;
pub mod input;
pub mod interrupts;
pub mod limits;
pub mod machine;
pub mod mapping;
pub mod memory;
pub mod microarchitecture;
mod mountinfo;
pub mod numa;
pub mod pack;
pub mod page_cache;
pub mod pages;
pub mod patience;
pub mod perf;
pub mod place;
mod platform;
pub mod power;
pub mod proc_stat;
pub mod process;
pub mod programs;
pub mod ring;
pub mod role;
pub mod semaphore;
pub mod settings;
mod shared;
pub mod shared_words;
pub mod signals;
pub mod socket;
pub mod standard_output;
pub mod stop;
pub mod system_calls;
pub mod task_records;
pub mod terminal;
pub mod thread;
pub mod timer;
pub mod tracefs;
pub mod trust;
pub mod vdso;

pub use affinity::{allowed_cpus, current_cpu, pin_to};
pub use clock::{
    Calibration, ClockCost, Counter, boot_ns, calibrate, later, measure_cost, monotonic_raw_ns,
    realtime_unix_ms, realtime_unix_ns,
};
pub use evidence::{
    ThreadReading, ThreadWatch, load_average, pressure_cpu_some_avg10, steal_ns, throttled_us,
};
pub use file_mapping::FileMapping;
pub use machine::machine_facts;
pub use mapping::Mapping;
pub use memory::{MemoryLimits, available_memory, peak_resident_bytes};
pub use pages::{Backing, Buffer, PageKind, base_page_bytes, huge_page_bytes};
