//! How the kernel schedules one thread: policy, nice value, EEVDF slice, I/O
//! priority, and the nice value of its session's autogroup. Each is set for a
//! task by its id (0: the calling thread) and read back by [`of`]; they end with
//! the thread, the autogroup's value with its session. [`crate::controls`] sets
//! the same for whole processes that it starts.

use std::io;

use model::noise::applied;

use crate::platform;

/// The scheduler's policies (sched(7)) that a thread may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// SCHED_OTHER, the default.
    Other,
    /// SCHED_BATCH: as SCHED_OTHER, but never preempts when it wakes.
    Batch,
    /// SCHED_IDLE: only when the CPU is otherwise idle. Without CAP_SYS_NICE a
    /// thread can't leave it again.
    Idle,
    /// SCHED_FIFO with this priority, 1 to 99: before all of the above.
    Fifo(u8),
    /// SCHED_RR with this priority: as SCHED_FIFO, with turns among equals.
    RoundRobin(u8),
}

/// I/O class and level of a thread (ioprio_set(2)). Only some I/O schedulers
/// obey it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoPriority {
    /// None set: the kernel derives it from the nice value.
    Unset,
    /// Before all others, level 0 (first) to 7; needs CAP_SYS_ADMIN.
    RealTime(u8),
    /// The usual class, level 0 (first) to 7.
    BestEffort(u8),
    /// Only when no other thread reads or writes.
    Idle,
}

/// What a thread has, read from the kernel; what can't be read is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// How it is scheduled.
    pub policy: Option<applied::Policy>,
    /// Its nice value.
    pub nice: Option<i32>,
    /// Length of its turns, ns (`sched_getattr(2)`, since Linux 6.12).
    pub slice_ns: Option<u64>,
    /// Its I/O class and level.
    pub io: Option<IoPriority>,
    /// Nice value of its autogroup.
    pub autogroup: Option<i32>,
}

/// Reads how a task is scheduled.
pub fn of(task: u32) -> Scheduling {
    platform::scheduling::of(task)
}

/// Sets the nice value, -20 to 19; the kernel moves others into that range.
///
/// # Errors
/// What `setpriority(2)` says: `PermissionDenied` (EACCES) for a lower value
/// than it has without CAP_SYS_NICE; `Unsupported` on Apple systems, where
/// threads have a QoS class ([`crate::qos_class`]).
pub fn set_nice(task: u32, nice: i32) -> io::Result<()> {
    platform::scheduling::set_nice(pid(task)?, nice).map_err(io::Error::from_raw_os_error)
}

/// Sets the policy. The nice value stays.
///
/// # Errors
/// What `sched_setscheduler(2)` says: `PermissionDenied` (EPERM) for real-time
/// policies, and for leaving SCHED_IDLE, without CAP_SYS_NICE; `Unsupported` on
/// Apple systems.
pub fn set_policy(task: u32, policy: Policy) -> io::Result<()> {
    platform::scheduling::set_policy(pid(task)?, policy).map_err(io::Error::from_raw_os_error)
}

/// Called by a thread that does nothing but spin: under SCHED_FIFO, which a
/// command gets from `chrt -f`, it would keep its CPU for ever from threads of
/// the same priority, among them those that it waits for and that end it. It
/// becomes SCHED_RR of the same priority, or SCHED_OTHER where that is refused.
pub fn take_turns() {
    if let Some(applied::Policy::Fifo(priority)) = platform::scheduling::policy_of(0)
        && set_policy(0, Policy::RoundRobin(priority)).is_err()
    {
        leave_real_time();
    }
}

/// Called by a thread that is a load: it runs at the ordinary priority, whatever
/// the policy of its process.
pub fn leave_real_time() {
    if let Some(applied::Policy::Fifo(_) | applied::Policy::RoundRobin(_)) =
        platform::scheduling::policy_of(0)
    {
        // Every thread may: it only gives up.
        let _ = set_policy(0, Policy::Other);
    }
}

/// Sets the length of its turns, which the kernel moves into 0.1 ms to 100 ms;
/// 0 for the default. Policy and nice value stay.
///
/// # Errors
/// What `sched_setattr(2)` says; `Unsupported` where the kernel ignores the
/// slice (before Linux 6.12, real-time policies, SCHED_IDLE) and on Apple
/// systems.
pub fn set_slice(task: u32, slice_ns: u64) -> io::Result<()> {
    platform::scheduling::set_slice(pid(task)?, slice_ns)?;
    let got = of(task).slice_ns;
    match got.is_some_and(|ns| ns > 0 && (slice_ns == 0 || ns == clamped(slice_ns))) {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("the kernel ignores the slice (read back: {} ns)", got.unwrap_or(0)),
        )),
    }
}

/// The slice that the kernel makes of one (`__setparam_fair`,
/// kernel/sched/syscalls.c).
fn clamped(slice_ns: u64) -> u64 {
    slice_ns.clamp(100_000, 100_000_000)
}

/// Sets the nice value of the autogroup that a process's session has. Waits
/// where the kernel limits the rate of changes (100 ms without CAP_SYS_ADMIN).
///
/// # Errors
/// What writing `/proc/PROCESS/autogroup` says: `PermissionDenied` (EPERM) for
/// a negative value without CAP_SYS_NICE, also after such a value was set;
/// `InvalidInput` above 19; `Unsupported` on Apple systems.
pub fn set_autogroup(process: u32, nice: i32) -> io::Result<()> {
    platform::scheduling::set_autogroup_of(process, nice)
}

/// Sets I/O class and level.
///
/// # Errors
/// What `ioprio_set(2)` says: `PermissionDenied` (EPERM) for the real-time
/// class without CAP_SYS_ADMIN; `Unsupported` on Apple systems.
pub fn set_io(task: u32, priority: IoPriority) -> io::Result<()> {
    platform::scheduling::set_io(pid(task)?, priority)
}

fn pid(task: u32) -> io::Result<libc::pid_t> {
    libc::pid_t::try_from(task).map_err(|_| io::ErrorKind::InvalidInput.into())
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests;
