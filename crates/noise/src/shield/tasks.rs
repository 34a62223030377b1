//! Tasks (threads) as /proc shows them (proc_pid_stat(5), proc_pid_status(5)).

use serde::{Deserialize, Serialize};
use std::io;
use sys::files::Files;
use sys::proc_stat::Stat;

/// The kernel lets no process set its affinity (include/linux/sched.h).
const PF_NO_SETAFFINITY: u64 = 0x0400_0000;

/// The kernel thread that makes all others (`kthreadd`): what it would be
/// moved to, all later kernel threads would inherit.
const KTHREADD: u32 = 2;

/// A task by its number, and since when it is this task's: numbers are used
/// again.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TaskIdentity {
    /// Thread id.
    pub(crate) id: u32,
    /// Its start, in ticks since the boot.
    pub(crate) start: u64,
}

/// What /proc/TASK/stat tells of a task that lives: its flags and its start.
fn stat(files: &dyn Files, id: u32) -> io::Result<(u64, u64)> {
    let text = files.read(&format!("/proc/{id}/stat")).map_err(gone)?;
    let stat = Stat::from_line(&text);
    // A zombie, or what is left of one: its number is taken until its parent
    // waits for it, but it never runs again and can't be moved.
    if stat.as_ref().is_some_and(|s| ["Z", "X", "x"].contains(&s.state())) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let known = stat.and_then(|stat| Some((stat.field_number(9)?, stat.field_number(22)?)));
    known.ok_or_else(|| io::Error::other(format!("/proc/{id}/stat is not understood")))
}

/// That a task ended while its file was read (ESRCH) is the same as that its
/// file is not there.
fn gone(error: io::Error) -> io::Error {
    const ESRCH: i32 = 3;
    match error.raw_os_error() {
        Some(ESRCH) => io::ErrorKind::NotFound.into(),
        _ => error,
    }
}

/// The task that has the number now.
///
/// # Errors
/// `NotFound` if none has, or one that is dead.
pub(crate) fn task_with_id(files: &dyn Files, id: u32) -> io::Result<TaskIdentity> {
    let (_, start) = stat(files, id)?;
    Ok(TaskIdentity { id, start })
}

/// # Errors
/// `NotFound` if the task has ended.
pub(crate) fn check_task(files: &dyn Files, task: TaskIdentity) -> io::Result<()> {
    if task_with_id(files, task.id)? == task { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Whether the kernel lets a task be moved to another cpuset.
pub(crate) fn may_be_moved(files: &dyn Files, id: u32) -> bool {
    id != KTHREADD && stat(files, id).is_ok_and(|(flags, _)| flags & PF_NO_SETAFFINITY == 0)
}

/// The CPUs that a task may run on, as a list.
///
/// # Errors
/// `NotFound` if it has ended.
pub(crate) fn affinity(files: &dyn Files, id: u32) -> io::Result<String> {
    let status = files.read(&format!("/proc/{id}/status")).map_err(gone)?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .map(|list| list.trim().to_owned())
        .ok_or_else(|| io::Error::other(format!("/proc/{id}/status names no CPUs")))
}

/// All threads of all processes, and of the kernel.
pub(crate) fn all_threads(files: &dyn Files) -> Vec<u32> {
    let processes = numbers(files.names("/proc"));
    processes
        .into_iter()
        .flat_map(|process| numbers(files.names(&format!("/proc/{process}/task"))))
        .collect()
}

/// The tasks of a group; none if it can't be read.
pub(crate) fn members(files: &dyn Files, list: &str) -> Vec<u32> {
    let text = files.read(list).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

/// The directory of a group below a mount; the root's is the mount itself.
pub(crate) fn group(mount: &str, group: &str) -> String {
    format!("{mount}{}", group.trim().trim_end_matches('/'))
}

fn numbers(names: Vec<String>) -> Vec<u32> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}
