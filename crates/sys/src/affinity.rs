//! On which CPUs the calling thread may run, and on which it is.
//!
//! All of this is about the calling *thread*; threads it starts later inherit
//! its set, threads that already run keep theirs.

use std::io;

pub use crate::platform::affinity::current_cpu;
use crate::platform::affinity::{allowed_to, set_allowed};

/// The logical CPUs the calling thread may run on, ascending.
///
/// # Errors
/// What `sched_getaffinity(2)` says; `Unsupported` on Apple systems, which
/// have no such set.
pub fn allowed_cpus() -> io::Result<Vec<u32>> {
    allowed_to(0)
}

/// Restricts the calling thread to `cpus`, and reads the set back, because a
/// cgroup cpuset (and Android) may silently grant less than was asked.
///
/// # Errors
/// `InvalidInput` for an empty list or a CPU number beyond 8191; what
/// `sched_setaffinity(2)` says, `InvalidInput` too if none of the CPUs is
/// there; `Other` if the set that was read back is another one;
/// `Unsupported` on Apple systems.
pub fn pin_to(cpus: &[u32]) -> io::Result<()> {
    let mut wanted = cpus.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        let why = "no CPU given to pin to";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    set_allowed(0, &wanted)?;
    let got = allowed_cpus()?;
    match got == wanted {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "asked for CPUs {wanted:?}, the kernel granted {got:?}"
        ))),
    }
}

/// Restricts any task (a thread by its id) to `cpus`. What was granted is in
/// `/proc/TASK/status`.
///
/// # Errors
/// As [`pin_to`]; `PermissionDenied` for others' tasks without CAP_SYS_NICE,
/// `NotFound` (ESRCH) if it has ended.
pub fn set_of(task: u32, cpus: &[u32]) -> io::Result<()> {
    if task == 0 || cpus.is_empty() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    set_allowed(task, cpus)
}
