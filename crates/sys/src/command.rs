//! A command under control: started without a shell and without copying memory,
//! waited for with a time limit, and accounted for.
//!
//! Commands run in one process group led by a watcher, or each in its own
//! session. The watcher kills all groups when this process ends, even by
//! SIGKILL, so that no command is left behind.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
#[cfg(not(target_vendor = "apple"))]
use std::sync::OnceLock;
use std::time::Duration;

use model::setting::{Setting, SettingRow};

use crate::child::Program;
use crate::controls::Laid;
use crate::counters::Counts;
pub use crate::platform::group::{ProcessGroup, tick_ns};
#[cfg(not(target_vendor = "apple"))]
use crate::platform::starter::Starter;

/// A command, laid out before there is a process.
#[derive(Debug)]
#[cfg_attr(
    target_vendor = "apple",
    allow(dead_code, reason = "commands under control don't run there yet")
)]
pub struct Command {
    pub(crate) program: Program,
    pub(crate) laid: Laid,
    /// The real-time priority that it gets, if it gets one.
    pub(crate) fifo: Option<u8>,
    /// The process that starts it, from its first run on; `None` where there
    /// can be none.
    #[cfg(not(target_vendor = "apple"))]
    pub(crate) starter: OnceLock<Option<Starter>>,
}

impl Command {
    /// The program at `path` with `argv[0]`, arguments and this process's
    /// environment.
    ///
    /// # Errors
    /// As [`Program::called`]; `InvalidInput` for controls that no process can
    /// have, such as a CPU that Linux can't.
    pub fn new(
        name: &OsStr,
        path: &Path,
        arguments: &[impl AsRef<OsStr>],
        controls: &[Setting],
    ) -> io::Result<Command> {
        Ok(Command {
            program: Program::called(name, path, arguments)?,
            laid: Laid::new(controls).map_err(|refused| refused.error)?,
            fifo: controls.iter().find_map(Setting::real_time),
            #[cfg(not(target_vendor = "apple"))]
            starter: OnceLock::new(),
        })
    }

    /// The program at `path` with these arguments and these variables alone, begun in a directory. It is started by
    /// this process itself, so that a command that runs once costs no helper: its peak memory is only a bound.
    ///
    /// # Errors
    /// As [`Program::placed`].
    pub fn placed(
        path: &Path,
        arguments: &[impl AsRef<OsStr>],
        variables: &[(OsString, OsString)],
        directory: &Path,
    ) -> io::Result<Command> {
        Ok(Command {
            program: Program::placed(path, arguments, variables, directory)?,
            laid: Laid::new(&[]).map_err(|refused| refused.error)?,
            fifo: None,
            #[cfg(not(target_vendor = "apple"))]
            starter: OnceLock::from(None),
        })
    }
}

/// The path of a program: the name itself if it has a slash, else the first
/// executable file of that name in PATH.
pub fn find_program(name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name));
    }
    if name.is_empty() {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| {
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
    /// It was killed: [`WaitLimits::wake`] became readable.
    Interrupted,
    /// It was killed: this signal had stopped it, and it did not go on.
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
    /// counts the memory that the process had before it executed its program:
    /// that of the process that starts it. A value at or below
    /// [`own_bytes`](Usage::own_bytes) is only a bound.
    pub peak_bytes: u64,
    /// Peak memory of the process that starts the command, when the command
    /// ended, bytes: of a small helper, or of this process where there can be
    /// none.
    pub own_bytes: u64,
    /// Time in which the command's first thread was ready to run and had no CPU; `None` where the
    /// kernel doesn't count it.
    pub run_delay_ns: Option<u64>,
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
    /// Its process id: what it left running has higher ones, until they wrap.
    pub process: u32,
}

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
#[error("can't {action}: {error}")]
pub struct NotStarted {
    /// What failed.
    pub action: Action,
    /// What the system said.
    pub error: io::Error,
}

/// What is done to start a command and to wait for it. Displayed, it completes
/// "can't".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(
    target_vendor = "apple",
    allow(dead_code, reason = "commands under control don't run there yet")
)]
#[allow(missing_docs, reason = "each says itself what it is")]
pub enum Action {
    #[error("read the counters")]
    ReadCounters,
    #[error("block signals")]
    BlockSignals,
    #[error("create a process")]
    Clone,
    #[error("join the command's process group")]
    JoinGroup,
    #[error("bind the command to latlas's life")]
    SetDeathSignal,
    /// One of its controls.
    #[error("{}", .0.sets)]
    Control(&'static SettingRow),
    #[error("report its session to the watcher")]
    ReportSession,
    #[error("set the command's input and output")]
    SetStreams,
    #[error("execute the program")]
    Execute,
    #[error("watch the command")]
    Watch,
    #[error("wait for the command")]
    Wait,
    #[error("track its session")]
    TrackSession,
}

impl Action {
    pub(crate) fn failed(self, error: io::Error) -> NotStarted {
        NotStarted { action: self, error }
    }
}

/// What ends the wait before the command does.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitLimits<'a> {
    /// Time it may take.
    pub time: Option<Duration>,
    /// A descriptor that becomes readable when the command is to be killed.
    pub wake: Option<BorrowedFd<'a>>,
}
