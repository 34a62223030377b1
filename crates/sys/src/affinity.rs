//! On which CPUs the calling thread may run, and on which it is.
//!
//! All of this is about the calling *thread*; threads it starts later inherit
//! its set, threads that already run keep theirs.

use std::io;

use model::setting::{Outcome, Setting};

use crate::platform::affinity::allowed_to;
pub use crate::platform::affinity::current_cpu;
use crate::settings::{HERE, System, TaskId};

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
    let wanted = Setting::Cpus(wanted);
    match HERE.put(&wanted)? {
        Outcome::Differs(now) => {
            Err(io::Error::other(format!("asked for {}, the kernel granted {now}", wanted.label())))
        }
        _ => Ok(()),
    }
}

/// Whether the calling thread can be restricted to a CPU, by trying; its set is as before. An
/// isolated CPU (isolcpus) is in no set that is inherited, and is given to who asks for it.
///
/// # Errors
/// As [`pin_to`].
pub fn may_pin_to(cpu: u32) -> io::Result<()> {
    let home = allowed_cpus()?;
    if home.contains(&cpu) {
        return Ok(());
    }
    let tried = pin_to(&[cpu]);
    HERE.set(&Setting::Cpus(home))?;
    tried
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
    TaskId(task).set(&Setting::Cpus(cpus.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As isolcpus leaves the set that is inherited.
    #[test]
    fn a_cpu_outside_the_inherited_set_is_tried() {
        let Ok(all) = allowed_cpus() else { return };
        let (first, last) = (all[0], all[all.len() - 1]);
        pin_to(&[first]).expect("allowed");
        may_pin_to(last).expect("the kernel grants it");
        assert_eq!(allowed_cpus().expect("a set"), [first], "as before");
        assert!(may_pin_to(8000).is_err());
        pin_to(&all).expect("allowed");
    }
}
