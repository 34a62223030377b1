//! Other processes by their id: whether one runs, and whether it started this one.

use std::os::unix::process::parent_id;

use crate::proc_stat::Stat;
use rustix::process::{Pid, test_kill_process};

/// Ancestors looked at; a longer line of them is no line.
const MOST: usize = 1000;

/// Whether a process with this id runs, of any user.
pub fn runs(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| match test_kill_process(pid) {
        Ok(()) => true,
        Err(error) => error == rustix::io::Errno::PERM,
    })
}

/// Whether this process is the parent of this one, the parent's parent, and so on. On Apple
/// systems only the parent is known.
pub fn is_ancestor(pid: u32) -> bool {
    let first = Some(parent_id());
    let mut ancestors = std::iter::successors(first, |&pid| parent_of(pid)).take(MOST);
    ancestors.any(|ancestor| ancestor == pid)
}

/// The parent of a process (`/proc/PID/stat`).
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Stat::of(&stat)?.number(4).filter(|&parent| parent != 0)
}

/// The namespace that process ids of this process belong to; `None` where the system has none.
pub fn id_namespace() -> Option<String> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_runs_and_is_an_ancestor() {
        assert!(runs(parent_id()) && is_ancestor(parent_id()));
        assert!(runs(1), "of another user too");
        assert!(!is_ancestor(std::process::id()), "not its own");
        for none in [0, u32::MAX] {
            assert!(!runs(none) && !is_ancestor(none));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_parent_of_the_parent_is_one_too() {
        let above = parent_of(parent_id());
        assert!(above.is_none_or(is_ancestor), "{above:?}");
    }
}
