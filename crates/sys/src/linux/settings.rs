//! Each setting of a task by the kernel's call: `sched_setaffinity(2)`,
//! `sched_setscheduler(2)`, `sched_setattr(2)`, `setpriority(2)`, `setsid(2)`,
//! `prctl(2)`, `ioprio_set(2)`, `cgroup.procs` (cgroups(7)) and the autogroup's
//! file (sched(7)). What returns an `errno` makes system calls only: a forked
//! child may call it. What sets by these, reads back and undoes is
//! [`crate::settings`].

use std::ffi::CStr;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use model::setting::{IoPriority, Policy, Setting};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, getpid, getpriority_process, setpriority_process, setsid};
use rustix::thread::{
    current_timer_slack, disable_transparent_huge_pages, set_current_timer_slack,
};

use super::affinity;
use crate::files::kernel_text;
use crate::settings::Patience;

/// Of a process without the right CAP_SYS_ADMIN the kernel takes one change of
/// an autogroup in 100 ms, in any process; asked again after this time,
const ASK_AGAIN_MS: i64 = 25;
/// so often.
const ASK_AT_MOST: u32 = 200;

/// The ordinary policy, by the name that Bionic has too.
pub(super) const SCHED_OTHER: i32 = libc::SCHED_NORMAL;

/// Sets it for a task (0: the calling thread, its process and its session).
pub(crate) fn apply_setting(
    task: libc::pid_t,
    setting: &Setting,
    patience: Patience,
) -> Result<(), i32> {
    match setting {
        Setting::Cpus(cpus) => affinity::mask(cpus)
            .and_then(|mask| mask.apply(task))
            .map_err(|error| error.raw_os_error().unwrap_or(libc::EINVAL)),
        Setting::Nice(nice) => or_errno(setpriority_process(Pid::from_raw(task), *nice)),
        Setting::Policy(policy) => set_policy(task, *policy),
        Setting::SliceNs(ns) => set_slice(task, *ns),
        Setting::Io(priority) => set_io(task, *priority),
        // The others are a process's own.
        _ if task != 0 => Err(libc::EINVAL),
        Setting::Group(directory) => join(directory),
        Setting::Autogroup(nice) => set_autogroup(*nice, patience),
        Setting::OwnSession(true) => begin_session(),
        Setting::OwnSession(false) => Ok(()),
        Setting::TimerSlackNs(ns) => or_errno(set_current_timer_slack(NonZeroU64::new(*ns))),
        Setting::TransparentHugePages(may) => or_errno(disable_transparent_huge_pages(!may)),
        Setting::OneCpu | Setting::QosClass(_) | Setting::GroupShares(_) | Setting::GroupIdle => {
            Err(libc::ENOTSUP)
        }
    }
}

/// What a task has of the same kind.
pub(crate) fn read_setting(task: libc::pid_t, setting: &Setting) -> Option<Setting> {
    let file = |name| file(task, name);
    Some(match setting {
        Setting::Cpus(_) | Setting::OneCpu => Setting::Cpus(affinity::allowed_to(task).ok()?),
        Setting::OwnSession(_) => {
            let process = Pid::from_raw(task).unwrap_or_else(getpid);
            Setting::OwnSession(session_of(task)? == process.as_raw_pid())
        }
        Setting::Nice(_) => Setting::Nice(getpriority_process(Pid::from_raw(task)).ok()?),
        // Only processes have the file; of a thread it is found by its id.
        Setting::Autogroup(_) => Setting::Autogroup(autogroup_nice(&file("autogroup")?)?),
        Setting::Policy(_) => Setting::Policy(policy_of(task)?),
        Setting::SliceNs(_) => Setting::SliceNs(attributes(task).ok()?.runtime_ns),
        Setting::TimerSlackNs(_) if task == 0 => Setting::TimerSlackNs(current_timer_slack().ok()?),
        Setting::TimerSlackNs(_) => Setting::TimerSlackNs(file("timerslack_ns")?.parse().ok()?),
        Setting::TransparentHugePages(_) => {
            let status = file("status")?;
            let enabled = status.lines().find_map(|line| line.strip_prefix("THP_enabled:"))?;
            Setting::TransparentHugePages(enabled.trim() == "1")
        }
        Setting::Io(_) => Setting::Io(io_of(task)?),
        Setting::Group(_) | Setting::QosClass(_) | Setting::GroupShares(_) | Setting::GroupIdle => {
            return None;
        }
    })
}

/// The cpuset of a process.
pub(crate) fn cpuset(process: u32) -> Option<String> {
    file(process.cast_signed(), "cpuset")
}

fn file(task: libc::pid_t, name: &str) -> Option<String> {
    let path = match task {
        0 => format!("/proc/self/{name}"),
        task => format!("/proc/{task}/{name}"),
    };
    Some(kernel_text(path).ok()?.trim().to_owned())
}

/// Joins the control group of this directory.
fn join(directory: &Path) -> Result<(), i32> {
    // Without allocating, and of a child's little stack.
    let mut path = [0; 1024];
    let mut free = &mut path[..1023];
    let written = free.write_all(directory.as_os_str().as_bytes());
    written.and_then(|()| free.write_all(b"/cgroup.procs")).map_err(|_| libc::ENAMETOOLONG)?;
    // 0 is the writing process.
    write_value(CStr::from_bytes_until_nul(&path).map_err(|_| libc::EINVAL)?, c"0")
}

pub(super) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// The `errno` of a bare call.
pub(super) fn called(status: libc::c_long) -> Result<(), i32> {
    match status {
        0 => Ok(()),
        _ => Err(errno()),
    }
}

/// Writes one value into a file that is there.
pub(super) fn write_value(path: &CStr, value: &CStr) -> Result<(), i32> {
    let bytes = value.to_bytes();
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    match file.and_then(|file| rustix::io::write(&file, bytes)) {
        Ok(all) if all == bytes.len() => Ok(()),
        Ok(_) => Err(libc::EIO),
        Err(error) => Err(error.raw_os_error()),
    }
}

/// A session of its own, unless it leads one already.
fn begin_session() -> Result<(), i32> {
    match session_of(0) == Some(getpid().as_raw_pid()) {
        true => Ok(()),
        false => or_errno(setsid().map(drop)),
    }
}

/// The session of a process (0: the calling one), where there is one of this id.
/// A session that was begun outside this PID namespace has the number 0
/// (pid_namespaces(7)), which rustix's `getsid` takes for impossible.
pub(super) fn session_of(process: libc::pid_t) -> Option<libc::pid_t> {
    // SAFETY: takes a number and writes nothing.
    let session = unsafe { libc::getsid(process) };
    (session >= 0).then_some(session)
}

/// The `errno` of a call by rustix, which allocates nothing.
fn or_errno(called: rustix::io::Result<()>) -> Result<(), i32> {
    called.map_err(Errno::raw_os_error)
}

/// Gives a task (0: the calling thread) a policy.
pub(super) fn set_policy(pid: libc::pid_t, policy: Policy) -> Result<(), i32> {
    let (number, priority) = match policy {
        Policy::Other => (SCHED_OTHER, 0),
        Policy::Batch => (libc::SCHED_BATCH, 0),
        Policy::Idle => (libc::SCHED_IDLE, 0),
        Policy::Fifo(priority) => (libc::SCHED_FIFO, i32::from(priority)),
        Policy::RoundRobin(priority) => (libc::SCHED_RR, i32::from(priority)),
        Policy::Another => return Err(libc::EINVAL),
    };
    set_scheduler(pid, number, priority)
}

/// The bare call: POSIX means processes by it and the kernel threads, so that
/// musl refuses it. The kernel's `sched_param` is the priority alone, musl's is
/// longer.
pub(super) fn set_scheduler(pid: libc::pid_t, number: i32, priority: i32) -> Result<(), i32> {
    let parameter: *const i32 = &priority;
    // SAFETY: the kernel reads its `sched_param`, which is one `int`.
    called(unsafe { libc::syscall(libc::SYS_sched_setscheduler, pid, number, parameter) })
}

/// Policy and priority of a task (0: the calling thread), by numbers.
pub(super) fn scheduler(pid: libc::pid_t) -> Result<(i32, i32), i32> {
    let mut priority = 0_i32;
    // SAFETY: the kernel writes its `sched_param`, which is one `int`.
    let (number, read) = unsafe {
        (
            libc::syscall(libc::SYS_sched_getscheduler, pid),
            libc::syscall(libc::SYS_sched_getparam, pid, &raw mut priority),
        )
    };
    match (i32::try_from(number), read) {
        (Ok(number), 0) if number >= 0 => Ok((number, priority)),
        _ => Err(errno()),
    }
}

fn policy_of(pid: libc::pid_t) -> Option<Policy> {
    let (number, priority) = scheduler(pid).ok()?;
    let priority = u8::try_from(priority).ok()?;
    // A bit that says what children get.
    Some(match number & !libc::SCHED_RESET_ON_FORK {
        SCHED_OTHER => Policy::Other,
        libc::SCHED_BATCH => Policy::Batch,
        libc::SCHED_IDLE => Policy::Idle,
        libc::SCHED_FIFO => Policy::Fifo(priority),
        libc::SCHED_RR => Policy::RoundRobin(priority),
        _ => Policy::Another,
    })
}

/// `struct sched_attr` in its first version (`SCHED_ATTR_SIZE_VER0`); libc
/// lacks it for Android.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// The slice of a thread that is not real-time.
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

const ATTRIBUTES_BYTES: u32 = size_of::<Attributes>() as u32;
/// `SCHED_FLAG_KEEP_POLICY`.
const KEEP_POLICY: u64 = 0x08;

fn attributes(pid: libc::pid_t) -> Result<Attributes, i32> {
    let mut read = Attributes::default();
    let target = &raw mut read;
    // SAFETY: the kernel writes at most the size that it is given.
    let status =
        unsafe { libc::syscall(libc::SYS_sched_getattr, pid, target, ATTRIBUTES_BYTES, 0_u32) };
    called(status).map(|()| read)
}

/// The call sets the nice value too: it passes the present one. A kernel before
/// Linux 6.12 ignores the slice, later ones for real-time policies and SCHED_IDLE.
fn set_slice(pid: libc::pid_t, slice_ns: u64) -> Result<(), i32> {
    let wanted = Attributes {
        size: ATTRIBUTES_BYTES,
        flags: KEEP_POLICY,
        runtime_ns: slice_ns,
        nice: attributes(pid)?.nice,
        ..Attributes::default()
    };
    // SAFETY: the kernel reads as many bytes as `size` says.
    called(unsafe { libc::syscall(libc::SYS_sched_setattr, pid, &raw const wanted, 0_u32) })
}

/// `IOPRIO_WHO_PROCESS`, which means one task; class and level in a number
/// (`include/uapi/linux/ioprio.h`).
const IOPRIO_WHO_PROCESS: i32 = 1;
const CLASS_SHIFT: i32 = 13;

fn set_io(pid: libc::pid_t, priority: IoPriority) -> Result<(), i32> {
    let (class, level) = match priority {
        IoPriority::Unset => (0, 0),
        IoPriority::RealTime(level) => (1, i32::from(level)),
        IoPriority::BestEffort(level) => (2, i32::from(level)),
        IoPriority::Idle => (3, 0),
    };
    if level > 7 {
        return Err(libc::EINVAL);
    }
    let number = class << CLASS_SHIFT | level;
    // SAFETY: a system call on numbers.
    called(unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, pid, number) })
}

fn io_of(pid: libc::pid_t) -> Option<IoPriority> {
    // SAFETY: a system call on numbers.
    let number = unsafe { libc::syscall(libc::SYS_ioprio_get, IOPRIO_WHO_PROCESS, pid) };
    let number = i32::try_from(number).ok().filter(|&number| number >= 0)?;
    let level = (number & 7) as u8;
    match number >> CLASS_SHIFT {
        0 => Some(IoPriority::Unset),
        1 => Some(IoPriority::RealTime(level)),
        2 => Some(IoPriority::BestEffort(level)),
        3 => Some(IoPriority::Idle),
        _ => None,
    }
}

/// Writes the nice value of the own autogroup.
fn set_autogroup(nice: i32, patience: Patience) -> Result<(), i32> {
    let mut text = [0; 16];
    write!(&mut text[..15], "{nice}").map_err(|_| libc::EINVAL)?;
    let nice = CStr::from_bytes_until_nul(&text).map_err(|_| libc::EINVAL)?;
    let pause = libc::timespec { tv_sec: 0, tv_nsec: ASK_AGAIN_MS * 1_000_000 };
    for _ in 0..ASK_AT_MOST {
        match write_value(c"/proc/self/autogroup", nice) {
            Err(libc::EAGAIN) if patience == Patience::Waits => {
                // SAFETY: reads a value on the stack; null for what is left.
                unsafe { libc::nanosleep(&raw const pause, std::ptr::null_mut()) };
            }
            other => return other,
        }
    }
    Err(libc::EAGAIN)
}

/// The number in `/autogroup-54 nice -10`.
fn autogroup_nice(text: &str) -> Option<i32> {
    text.rsplit_once(" nice ")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nice_value_of_an_autogroup() {
        assert_eq!(autogroup_nice("/autogroup-54 nice 0"), Some(0));
        assert_eq!(autogroup_nice("/autogroup-7 nice -10"), Some(-10));
        assert_eq!(autogroup_nice("/"), None);
    }
}
