//! `sched_setscheduler(2)`, `sched_setattr(2)`, `setpriority(2)`,
//! `ioprio_set(2)` and the autogroup's file (sched(7)). The functions that
//! return an `errno` make system calls only: a forked child may call them.

use std::ffi::{CStr, CString};
use std::io;

use model::noise::applied;

use super::controls::{done, errno, write};
use crate::controls::Patience;
use crate::scheduling::{IoPriority, Policy, Scheduling};

/// Of a process without the right CAP_SYS_ADMIN the kernel takes one change of
/// an autogroup in 100 ms, in any process; asked again after this time,
const ASK_AGAIN_MS: i64 = 25;
/// so often.
const ASK_AT_MOST: u32 = 200;

/// The ordinary policy, by the name that Bionic has too.
pub(super) const SCHED_OTHER: i32 = libc::SCHED_NORMAL;

pub(crate) fn of(task: u32) -> Scheduling {
    let Ok(pid) = libc::pid_t::try_from(task) else {
        return Scheduling::default();
    };
    // Only processes have the file; of a thread it is found by its id.
    let whose = match task {
        0 => "self".to_owned(),
        task => task.to_string(),
    };
    let autogroup = std::fs::read_to_string(format!("/proc/{whose}/autogroup"));
    Scheduling {
        policy: policy_of(pid),
        nice: nice_of(pid),
        slice_ns: attributes(pid).ok().map(|a| a.runtime_ns).filter(|&ns| ns > 0),
        io: io_of(pid),
        autogroup: autogroup.ok().and_then(|text| autogroup_nice(text.trim())),
    }
}

pub(crate) fn set_nice(pid: libc::pid_t, nice: i32) -> Result<(), i32> {
    // The C libraries disagree on the type of both.
    let (which, who) = (libc::PRIO_PROCESS as _, pid as _);
    // SAFETY: a system call on numbers.
    done(unsafe { libc::setpriority(which, who, nice) })
}

pub(crate) fn nice_of(pid: libc::pid_t) -> Option<i32> {
    // The bare call: the C library's returns -1 for the value and for an error.
    // SAFETY: a system call on numbers.
    let reversed = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, pid) };
    (reversed > 0).then(|| 20 - reversed as i32)
}

/// Gives a task (0: the calling thread) a policy.
pub(crate) fn set_policy(pid: libc::pid_t, policy: Policy) -> Result<(), i32> {
    let (number, priority) = match policy {
        Policy::Other => (SCHED_OTHER, 0),
        Policy::Batch => (libc::SCHED_BATCH, 0),
        Policy::Idle => (libc::SCHED_IDLE, 0),
        Policy::Fifo(priority) => (libc::SCHED_FIFO, i32::from(priority)),
        Policy::RoundRobin(priority) => (libc::SCHED_RR, i32::from(priority)),
    };
    set_scheduler(pid, number, priority)
}

/// The bare call: POSIX means processes by it and the kernel threads, so that
/// musl refuses it. The kernel's `sched_param` is the priority alone, musl's is
/// longer.
pub(super) fn set_scheduler(pid: libc::pid_t, number: i32, priority: i32) -> Result<(), i32> {
    let parameter: *const i32 = &priority;
    // SAFETY: the kernel reads its `sched_param`, which is one `int`.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, pid, number, parameter) } {
        0 => Ok(()),
        _ => Err(errno()),
    }
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

pub(crate) fn policy_of(pid: libc::pid_t) -> Option<applied::Policy> {
    let (number, priority) = scheduler(pid).ok()?;
    let priority = u8::try_from(priority).ok()?;
    // A bit that says what children get.
    Some(match number & !libc::SCHED_RESET_ON_FORK {
        SCHED_OTHER => applied::Policy::Other,
        libc::SCHED_BATCH => applied::Policy::Batch,
        libc::SCHED_IDLE => applied::Policy::Idle,
        libc::SCHED_FIFO => applied::Policy::Fifo(priority),
        libc::SCHED_RR => applied::Policy::RoundRobin(priority),
        _ => applied::Policy::Another,
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

fn attributes(pid: libc::pid_t) -> io::Result<Attributes> {
    let mut read = Attributes::default();
    let target = &raw mut read;
    // SAFETY: the kernel writes at most the size that it is given.
    let status =
        unsafe { libc::syscall(libc::SYS_sched_getattr, pid, target, ATTRIBUTES_BYTES, 0_u32) };
    match status {
        0 => Ok(read),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The call sets the nice value too: it passes the present one.
pub(crate) fn set_slice(pid: libc::pid_t, slice_ns: u64) -> io::Result<()> {
    let wanted = Attributes {
        size: ATTRIBUTES_BYTES,
        flags: KEEP_POLICY,
        runtime_ns: slice_ns,
        nice: attributes(pid)?.nice,
        ..Attributes::default()
    };
    // SAFETY: the kernel reads as many bytes as `size` says.
    match unsafe { libc::syscall(libc::SYS_sched_setattr, pid, &raw const wanted, 0_u32) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `IOPRIO_WHO_PROCESS`, which means one task; class and level in a number
/// (`include/uapi/linux/ioprio.h`).
const IOPRIO_WHO_PROCESS: i32 = 1;
const CLASS_SHIFT: i32 = 13;

pub(crate) fn set_io(pid: libc::pid_t, priority: IoPriority) -> io::Result<()> {
    let (class, level) = match priority {
        IoPriority::Unset => (0, 0),
        IoPriority::RealTime(level) => (1, i32::from(level)),
        IoPriority::BestEffort(level) => (2, i32::from(level)),
        IoPriority::Idle => (3, 0),
    };
    if level > 7 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let number = class << CLASS_SHIFT | level;
    // SAFETY: a system call on numbers.
    match unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, pid, number) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
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

/// Writes the nice value of an autogroup to `/proc/PROCESS/autogroup`.
pub(super) fn set_autogroup(file: &CStr, nice: &CStr, patience: Patience) -> Result<(), i32> {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: ASK_AGAIN_MS * 1_000_000 };
    for _ in 0..ASK_AT_MOST {
        match write(file, nice) {
            Err(libc::EAGAIN) if patience == Patience::Waits => {
                // SAFETY: reads a value on the stack; null for what is left.
                unsafe { libc::nanosleep(&raw const pause, std::ptr::null_mut()) };
            }
            other => return other,
        }
    }
    Err(libc::EAGAIN)
}

pub(crate) fn set_autogroup_of(process: u32, nice: i32) -> io::Result<()> {
    let whose = match process {
        0 => "self".to_owned(),
        process => process.to_string(),
    };
    let file = CString::new(format!("/proc/{whose}/autogroup"))?;
    let nice = CString::new(nice.to_string())?;
    set_autogroup(&file, &nice, Patience::Waits).map_err(io::Error::from_raw_os_error)
}

/// The number in `/autogroup-54 nice -10`.
pub(super) fn autogroup_nice(text: &str) -> Option<i32> {
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
