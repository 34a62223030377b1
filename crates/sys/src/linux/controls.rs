//! Controls of a process: those of [`super::scheduling`], `setsid(2)`, `prctl(2)`
//! and `cgroup.procs` (cgroups(7)).

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use model::noise::applied::Settings;

use super::affinity::{self, Mask};
use super::cgroup;
use super::scheduling::{
    autogroup_nice, nice_of, policy_of, scheduler, set_autogroup, set_nice, set_policy,
    set_scheduler,
};
use crate::controls::{Controls, NoAutogroups, NotSet, Patience, Policy, Step};
use crate::files::{Files, Tree};

const AUTOGROUP: &CStr = c"/proc/self/autogroup";

/// Controls laid out as the kernel wants them, so that a child may set them
/// that must neither allocate nor lock.
#[derive(Debug)]
pub(crate) struct Laid {
    groups: Vec<CString>,
    own_session: bool,
    autogroup: Option<CString>,
    mask: Option<Mask>,
    nice: Option<i32>,
    policy: Option<Policy>,
    timer_slack_ns: Option<u64>,
    transparent_huge_pages: Option<bool>,
}

impl Laid {
    pub(crate) fn new(controls: &Controls) -> Result<Laid, NotSet> {
        if controls.autogroup.is_some() && !controls.own_session {
            return Err(Step::Autogroup.refused(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the other processes of its session would get it too: it needs its own session",
            )));
        }
        let cpus = Some(&controls.cpus).filter(|cpus| !cpus.is_empty());
        let mask = cpus.map(|cpus| affinity::mask(cpus)).transpose();
        let group = |group: &PathBuf| {
            let file = group.join("cgroup.procs");
            CString::new(file.as_os_str().as_bytes()).map_err(|zero| Step::Group.refused(zero))
        };
        let autogroup = controls.autogroup.map(|nice| CString::new(nice.to_string())).transpose();
        Ok(Laid {
            groups: controls.groups.iter().map(group).collect::<Result<_, _>>()?,
            own_session: controls.own_session,
            autogroup: autogroup.map_err(|zero| Step::Autogroup.refused(zero))?,
            mask: mask.map_err(|error| Step::Cpus.refused(error))?,
            nice: controls.nice,
            policy: controls.policy,
            timer_slack_ns: controls.timer_slack_ns,
            transparent_huge_pages: controls.transparent_huge_pages,
        })
    }

    /// Whether the process leaves its session.
    pub(crate) fn own_session(&self) -> bool {
        self.own_session
    }

    /// What setting them in a child that borrows this memory would change for
    /// this process too; as before when dropped.
    pub(crate) fn keep_own_memory(&self) -> OwnMemory {
        // SAFETY: a system call on numbers.
        let ask = || unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0_u64, 0_u64, 0_u64, 0_u64) };
        OwnMemory(self.transparent_huge_pages.map(|_| ask()))
    }

    /// Sets them for the calling process. Makes system calls only.
    ///
    /// # Errors
    /// The first step that was refused, with its `errno`.
    pub(crate) fn set(&self, patience: Patience) -> Result<(), (Step, i32)> {
        for group in &self.groups {
            // 0 is the writing process.
            write(group, c"0").map_err(|error| (Step::Group, error))?;
        }
        if self.own_session {
            begin_session().map_err(|error| (Step::Session, error))?;
        }
        if let Some(nice) = &self.autogroup {
            set_autogroup(AUTOGROUP, nice, patience).map_err(|error| (Step::Autogroup, error))?;
        }
        if let Some(mask) = &self.mask {
            let set = mask.set(0);
            set.map_err(|error| (Step::Cpus, error.raw_os_error().unwrap_or(0)))?;
        }
        if let Some(nice) = self.nice {
            set_nice(0, nice).map_err(|error| (Step::Nice, error))?;
        }
        if let Some(policy) = self.policy {
            set_policy(0, policy).map_err(|error| (Step::Policy, error))?;
        }
        if let Some(slack_ns) = self.timer_slack_ns {
            // SAFETY: a system call on numbers.
            done(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack_ns) })
                .map_err(|error| (Step::TimerSlack, error))?;
        }
        if let Some(may) = self.transparent_huge_pages {
            disable_huge_pages(!may, 0).map_err(|error| (Step::HugePages, error))?;
        }
        Ok(())
    }
}

/// PR_SET_THP_DISABLE.
fn disable_huge_pages(disable: bool, flags: u64) -> Result<(), i32> {
    let disable = u64::from(disable);
    // SAFETY: a system call on numbers.
    done(unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, disable, flags, 0_u64, 0_u64) })
}

/// Whether this memory may have transparent huge pages: the one control that
/// belongs to memory and not to a process.
#[derive(Debug)]
pub(crate) struct OwnMemory(Option<i32>);

impl Drop for OwnMemory {
    fn drop(&mut self) {
        // Bit 0 is the switch, the others say what is excepted (Linux 6.18).
        if let Some(before) = self.0.and_then(|before| u64::try_from(before).ok()) {
            let _ = disable_huge_pages(before & 1 == 1, before & !1);
        }
    }
}

pub(super) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

pub(super) fn done(status: i32) -> Result<(), i32> {
    match status {
        0 => Ok(()),
        _ => Err(errno()),
    }
}

/// Writes one value into a file that is there.
pub(super) fn write(path: &CStr, value: &CStr) -> Result<(), i32> {
    let bytes = value.to_bytes();
    // SAFETY: the path ends in a zero byte; the kernel reads the value's bytes.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file < 0 {
            return Err(errno());
        }
        let written = libc::write(file, bytes.as_ptr().cast(), bytes.len());
        let error = errno();
        libc::close(file);
        match usize::try_from(written) {
            Ok(all) if all == bytes.len() => Ok(()),
            Ok(_) => Err(libc::EIO),
            Err(_) => Err(error),
        }
    }
}

/// A session of its own, unless it leads one already.
fn begin_session() -> Result<(), i32> {
    // SAFETY: system calls without arguments, or on a number.
    unsafe {
        if libc::getsid(0) == libc::getpid() || libc::setsid() >= 0 {
            return Ok(());
        }
    }
    Err(errno())
}

/// What a process has: read from outside, or by itself.
pub(crate) fn granted_to(process: u32) -> Settings {
    let pid = libc::pid_t::try_from(process).unwrap_or(0);
    let file = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/{process}/{name}")).ok()?;
        Some(text.trim().to_owned())
    };
    // SAFETY: a system call on a number.
    let session = unsafe { libc::getsid(pid) };
    let status = file("status").unwrap_or_default();
    Settings {
        cpus: affinity::allowed_to(pid).unwrap_or_default(),
        own_session: (session >= 0).then_some(session == pid),
        autogroup: file("autogroup").as_deref().and_then(autogroup_nice),
        nice: nice_of(pid),
        policy: policy_of(pid),
        timer_slack_ns: file("timerslack_ns").and_then(|text| text.parse().ok()),
        transparent_huge_pages: keyed(&status, "THP_enabled:").map(|value| value == "1"),
        cpuset: file("cpuset"),
        shield: Vec::new(),
    }
}

fn keyed<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
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
    pub fn start(priority: u8) -> io::Result<Above> {
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
    use crate::platform::scheduling::SCHED_OTHER;

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
            let _above = Above::start(1).expect("a right");
            assert_eq!(scheduler(0), Ok((libc::SCHED_FIFO, 40)));
        }
        assert_eq!(scheduler(0), Ok((libc::SCHED_FIFO, 40)));
        set_policy(0, Policy::Other).expect("a lower one");
        {
            let _above = Above::start(1).expect("a right");
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
