//! What controls need of the system: autogroups, real-time throttling, and this
//! process before a command that never sleeps.

use std::io;

use super::cgroup;
use super::settings::{scheduler, set_policy, set_scheduler};
use crate::controls::{Laid, NoAutogroups};
use crate::files::{Files, Tree};
use model::setting::Policy;

/// Whether this memory may have transparent huge pages: the one control that
/// belongs to memory and not to a process.
#[derive(Debug)]
pub(crate) struct OwnMemory(Option<i32>);

impl OwnMemory {
    /// What setting these in a child that borrows this memory would change for
    /// this process too; as before when dropped.
    pub(crate) fn keep(controls: &Laid) -> OwnMemory {
        // SAFETY: a system call on numbers.
        let ask = || unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0_u64, 0_u64, 0_u64, 0_u64) };
        OwnMemory(controls.of_memory().then(ask))
    }
}

impl Drop for OwnMemory {
    fn drop(&mut self) {
        // Bit 0 is the switch, the others say what is excepted (Linux 6.18).
        if let Some(before) = self.0.and_then(|before| u64::try_from(before).ok()) {
            let (disabled, excepted) = (before & 1, before & !1);
            // SAFETY: a system call on numbers.
            unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, disabled, excepted, 0_u64, 0_u64) };
        }
    }
}

/// Why the nice value of an autogroup has no effect here.
pub(crate) fn autogroups(tree: &Tree) -> Result<(), NoAutogroups> {
    const SWITCH: &str = "/proc/sys/kernel/sched_autogroup_enabled";
    if !tree.exists("/proc/self/autogroup") {
        return Err(match tree.exists("/proc/self/stat") {
            true => NoAutogroups::NotInKernel,
            false => NoAutogroups::NoProc,
        });
    }
    if tree.number(SWITCH) == Some(0) {
        return Err(NoAutogroups::Off);
    }
    match cgroup::cpu_group(tree) {
        Some(group) => Err(NoAutogroups::CpuGroup(group)),
        None => Ok(()),
    }
}

pub(crate) fn real_time_share(tree: &Tree) -> Option<f64> {
    // -1 is no throttling, and no u64.
    let runtime = tree.number("/proc/sys/kernel/sched_rt_runtime_us")?;
    let period = tree.number("/proc/sys/kernel/sched_rt_period_us")?;
    (runtime < period).then(|| runtime as f64 / period as f64)
}

/// Raises the calling thread to SCHED_FIFO above commands of that policy, as
/// long as this lives: the thread that has to end such commands needs a CPU.
#[derive(Debug)]
pub struct Above {
    number: i32,
    priority: i32,
}

impl Above {
    /// One above `priority`, 99 at most. A thread already above stays there.
    pub fn raise(priority: u8) -> io::Result<Above> {
        let (number, before) = scheduler(0).map_err(io::Error::from_raw_os_error)?;
        if !above_already(number, before, priority) {
            raise(0, priority)?;
        }
        Ok(Above { number, priority: before })
    }
}

/// Whether a thread of this policy and priority is before SCHED_FIFO of that one
/// (or equal to it at the highest priority).
fn above_already(number: i32, own: i32, priority: u8) -> bool {
    let policy = number & !libc::SCHED_RESET_ON_FORK;
    let wanted = i32::from(priority.saturating_add(1).min(99));
    (policy == libc::SCHED_FIFO || policy == libc::SCHED_RR) && own >= wanted
}

impl Drop for Above {
    fn drop(&mut self) {
        // A lower policy is always granted, and its own is.
        let _ = set_scheduler(0, self.number, self.priority);
    }
}

/// Puts a process (0: the calling thread) before those with this priority of
/// SCHED_FIFO; at the highest priority, equal to them.
pub(crate) fn raise(pid: libc::pid_t, priority: u8) -> io::Result<()> {
    let above = Policy::Fifo(priority.saturating_add(1).min(99));
    set_policy(pid, above).map_err(io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::settings::SCHED_OTHER;

    #[test]
    fn a_thread_already_above_stays_there() {
        for (number, own, above) in [
            (libc::SCHED_FIFO, 50, true),
            (libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 2, true),
            (libc::SCHED_RR, 2, true),
            (libc::SCHED_FIFO, 1, false),
            (SCHED_OTHER, 0, false),
        ] {
            assert_eq!(above_already(number, own, 1), above, "{number} {own}");
        }
        assert!(above_already(libc::SCHED_FIFO, 99, 99));
        // SAFETY: a system call on a number.
        if unsafe { libc::geteuid() } != 0 || set_policy(0, Policy::Fifo(40)).is_err() {
            println!("SKIPPED: no right to SCHED_FIFO");
            return;
        }
        {
            let _above = Above::raise(1).expect("a right");
            assert_eq!(scheduler(0), Ok((libc::SCHED_FIFO, 40)));
        }
        assert_eq!(scheduler(0), Ok((libc::SCHED_FIFO, 40)));
        set_policy(0, Policy::Other).expect("a lower one");
        {
            let _above = Above::raise(1).expect("a right");
            assert_eq!(scheduler(0), Ok((libc::SCHED_FIFO, 2)));
        }
        assert_eq!(scheduler(0), Ok((SCHED_OTHER, 0)));
    }

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        let tree = Tree::new(root.path());
        (root, tree)
    }

    const SWITCH: &str = "proc/sys/kernel/sched_autogroup_enabled";

    fn why(files: &[(&str, &str)]) -> Option<NoAutogroups> {
        autogroups(&tree(files).1).err()
    }

    #[test]
    fn why_an_autogroup_has_no_effect() {
        let stat = ("proc/self/stat", "1 (x) R");
        let own = ("proc/self/autogroup", "/autogroup-1 nice 0\n");
        let on = (SWITCH, "1\n");
        assert_eq!(why(&[]), Some(NoAutogroups::NoProc));
        assert_eq!(why(&[stat]), Some(NoAutogroups::NotInKernel));
        assert_eq!(why(&[stat, own, (SWITCH, "0\n")]), Some(NoAutogroups::Off));
        let one = ("proc/self/mountinfo", "35 31 0:32 / /cg rw - cgroup cgroup rw,cpu\n");
        let root = ("proc/self/cgroup", "5:cpu:/\n0::/\n");
        let below = ("proc/self/cgroup", "5:cpu:/jobs\n0::/\n");
        let there = ("cg/jobs/cpu.shares", "1024\n");
        let group = |path: &str| Some(NoAutogroups::CpuGroup(path.into()));
        assert_eq!(why(&[stat, own, on, one, root]), None);
        assert_eq!(why(&[stat, own, on, one, below, there]), group("/cg/jobs"));
        let two = ("proc/self/mountinfo", "35 31 0:32 / /cg rw - cgroup2 cgroup rw\n");
        let slice = ("proc/self/cgroup", "0::/a/b\n");
        let without = ("cg/a/b/cgroup.procs", "");
        assert_eq!(why(&[stat, own, on, two, slice, without]), None);
        // Of an ancestor, since the group's own has the controller off.
        let weight = ("cg/a/cpu.weight", "100\n");
        assert_eq!(why(&[stat, own, on, two, slice, without, weight]), group("/cg/a"));
    }

    #[test]
    fn the_share_of_real_time_tasks() {
        let files = |runtime| {
            let (_root, tree) = tree(&[
                ("proc/sys/kernel/sched_rt_runtime_us", runtime),
                ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
            ]);
            real_time_share(&tree)
        };
        assert_eq!(files("950000\n"), Some(0.95));
        assert_eq!(files("-1\n"), None);
        assert_eq!(files("1000000\n"), None);
    }
}
