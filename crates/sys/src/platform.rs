//! The one place where the operating system is chosen. Both sides have the
//! same files with the same functions.

use rustix::fs::AtFlags;

#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "linux/mod.rs"]
mod os;

#[cfg(target_vendor = "apple")]
#[path = "apple/mod.rs"]
mod os;

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
compile_error!("latlas-sys knows Linux, Android and Apple systems only");

/// Asks `accessat` by the rights that opening goes by: the effective user's.
#[cfg(not(target_os = "android"))]
pub(crate) const AS_EFFECTIVE_USER: AtFlags = AtFlags::EACCESS;

/// Bionic takes no such flag and answers for the real user, who is the same
/// one unless the program is set-user-ID.
#[cfg(target_os = "android")]
pub(crate) const AS_EFFECTIVE_USER: AtFlags = AtFlags::empty();

pub(crate) use os::{
    affinity, attached, command, controls, counters, direct_io, dispatch, eventfd, evidence,
    filesystem, futex, heap, interrupts, machine, memory, numa, page_cache, pages, power, process,
    semaphore, system_calls, task_records, thread, timer, vdso,
};
