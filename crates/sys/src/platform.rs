//! Where the operating system is chosen for topics with much code of its own:
//! both sides have the same files with the same functions. A topic of few lines
//! chooses in its own file, where `not(target_vendor = "apple")` means Linux
//! and Android.

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

/// Bionic takes no such flag and answers for the real user, which is the same
/// one unless the program is set-user-ID.
#[cfg(target_os = "android")]
pub(crate) const AS_EFFECTIVE_USER: AtFlags = AtFlags::empty();

/// The error of a call that Apple systems lack.
#[cfg(target_vendor = "apple")]
pub(crate) fn unsupported(what: &str) -> std::io::Error {
    std::io::Error::new(
        std::io::ErrorKind::Unsupported,
        format!("Apple systems do not have {what}"),
    )
}

#[cfg(target_vendor = "apple")]
pub(crate) use os::power;
pub(crate) use os::{
    affinity, controls, counters, evidence, filesystem, group, interrupts, machine, memory, pages,
    perf_ring, settings, task_records,
};
#[cfg(not(target_vendor = "apple"))]
pub(crate) use os::{cgroup, starter};
