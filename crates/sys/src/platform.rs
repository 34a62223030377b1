//! The one place where the operating system is chosen. Both sides have the
//! same files with the same functions.

#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "linux/mod.rs"]
mod os;

#[cfg(target_vendor = "apple")]
#[path = "apple/mod.rs"]
mod os;

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
compile_error!("latlas-sys knows Linux, Android and Apple systems only");

pub(crate) use os::{
    affinity, attached, command, controls, counters, direct_io, dispatch, eventfd, evidence,
    filesystem, futex, heap, interrupts, machine, memory, numa, page_cache, pages, power, process,
    semaphore, system_calls, task_records, thread, vdso,
};
