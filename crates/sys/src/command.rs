//! A command run once under control: started straight from this process
//! (no shell, no copy of its memory), waited for with a time limit, and
//! accounted for.
//!
//! All commands run in one process group of their own, or each leads a session
//! with a group of its own. A watcher leads the common one: it ends all groups
//! when this process ends, however that happens, so that no command is left
//! behind.

use std::ffi::OsStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::child::Program;
use crate::controls::NotSet;
pub use crate::controls::{Controls, Policy};
use crate::counters::Counts;
use crate::platform;
pub use crate::platform::command::Group;
use crate::platform::controls::Laid;

/// The kernel's scheduler tick, ns: where it accounts by ticks, CPU time is
/// divided into user and system by what each tick happens to find. `None`
/// where it is not known.
pub fn tick_ns() -> Option<u64> {
    platform::command::tick_ns()
}

/// A command, laid out before any process is there.
#[derive(Debug)]
#[cfg_attr(
    target_vendor = "apple",
    allow(dead_code, reason = "commands under control don't run there yet")
)]
pub struct Command {
    pub(crate) program: Program,
    pub(crate) laid: Laid,
    /// The priority of SCHED_FIFO that it gets, if it gets one.
    pub(crate) fifo: Option<u8>,
}

impl Command {
    /// The program at `path`, which is told to be called `name` (its
    /// `argv[0]`), with these arguments and this process's environment.
    ///
    /// # Errors
    /// As [`Program::called`]; `InvalidInput` for controls that no process can
    /// have, such as a CPU that Linux can't.
    pub fn new(
        name: &OsStr,
        path: &Path,
        arguments: &[impl AsRef<OsStr>],
        controls: &Controls,
    ) -> io::Result<Command> {
        Ok(Command {
            program: Program::called(name, path, arguments)?,
            laid: Laid::new(controls).map_err(|refused: NotSet| refused.error)?,
            fifo: match controls.policy {
                Some(Policy::Fifo(priority)) => Some(priority),
                _ => None,
            },
        })
    }
}

/// Where a program is that is called so: the name itself if it holds a slash,
/// else the first executable file of that name in the directories of PATH.
/// `None` if there is none.
pub fn find_program(name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name));
    }
    if name.is_empty() {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|file| {
            file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
        })
}

/// What a command reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Streams<'a> {
    /// Its standard input.
    pub input: BorrowedFd<'a>,
    /// Its standard output.
    pub output: BorrowedFd<'a>,
    /// Its standard error.
    pub error: BorrowedFd<'a>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Code(i32),
    /// By this signal, sent by others.
    Signal(i32),
    /// It was killed: it ran longer than it may.
    TimedOut,
    /// It was killed: somebody woke the waiting.
    Interrupted,
    /// It was killed: this signal had stopped it, and nobody let it go on.
    Stopped(i32),
}

/// What a command cost. Times in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// From just before its process is made until it has been waited for
    /// (CLOCK_MONOTONIC_RAW).
    pub wall_ns: u64,
    /// The first part of that, until its program is loaded (`execve` is past
    /// the point of no return).
    pub start_ns: u64,
    /// CPU time in user mode, of the command and of all descendants that were
    /// waited for (`wait4(2)`).
    pub user_ns: u64,
    /// CPU time in kernel mode, likewise.
    pub system_ns: u64,
    /// Largest resident memory of any one of these processes, bytes. Linux
    /// counts what the process had before it executed its program: here, what
    /// this process has. So a figure at or below
    /// [`own_bytes`](Usage::own_bytes) is only a bound.
    pub peak_bytes: u64,
    /// What this process itself had at most when the command ended, bytes.
    pub own_bytes: u64,
    /// Times they gave up the CPU to wait.
    pub voluntary: u64,
    /// Times the CPU was taken from them.
    pub involuntary: u64,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// What the kernel and the processor counted, from the program's first
    /// instruction on, in all descendants.
    pub counts: Counts,
}

/// A command that has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finished {
    /// How.
    pub end: End,
    /// What it cost.
    pub usage: Usage,
    /// The number of the process that it was: what it left running has higher
    /// ones, until the system begins anew with small numbers.
    pub process: u32,
}

/// Why a command did not start.
#[derive(Debug)]
pub struct NotStarted {
    /// What was being done, in words: `execute the program`.
    pub doing: &'static str,
    /// What the system said.
    pub error: io::Error,
}

impl NotStarted {
    pub(crate) fn new(doing: &'static str, error: io::Error) -> NotStarted {
        NotStarted { doing, error }
    }
}

impl std::fmt::Display for NotStarted {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "can't {}: {}", self.doing, self.error)
    }
}

impl std::error::Error for NotStarted {}

/// What may end the waiting before the command does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// Time it may take.
    pub time: Option<Duration>,
    /// A descriptor that becomes readable when the command is to be killed.
    pub wake: Option<BorrowedFd<'a>>,
}
