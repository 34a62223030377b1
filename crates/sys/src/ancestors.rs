//! Other processes by their id: whether one is stopped, and whether it started this one.

use std::os::unix::process::parent_id;

use crate::proc_stat::Stat;

/// Ancestors looked at; a longer line of them is no line.
const MOST: usize = 1000;

/// Whether a process is stopped (SIGSTOP, Ctrl-Z): it goes on when it is told to.
pub fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|text| Stat::from_line(&text).is_some_and(|stat| stat.state() == "T"))
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
    Stat::from_line(&stat)?.field_number(4).filter(|&parent| parent != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_an_ancestor() {
        assert!(is_ancestor(parent_id()));
        assert!(!is_ancestor(std::process::id()), "not its own");
        for none in [0, u32::MAX] {
            assert!(!is_ancestor(none));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_stopped_process_is_told_from_one_that_sleeps() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("starts");
        assert!(!is_stopped(child.id()));
        let process = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(process, rustix::process::Signal::STOP).expect("stopped");
        while !is_stopped(child.id()) {
            std::thread::yield_now();
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert!(!is_stopped(child.id()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_parent_of_the_parent_is_one_too() {
        let above = parent_of(parent_id());
        assert!(above.is_none_or(is_ancestor), "{above:?}");
    }
}
