//! Records a command or a running process, with the best tier that is allowed here: the only part of this
//! crate that talks to the kernel. `source.rs` chooses the tier: `rings.rs` with perf events or `sampler.rs`
//! without privileges; `check.rs` provokes known events first; `recorded.rs` makes the trace. Bytes become
//! events in `decode.rs`, outside.

mod buffers;
mod check;
mod command;
mod full;
mod heap;
mod kept;
mod kernel_buffers;
mod process;
mod recorded;
mod rings;
mod running;
mod sampler;
mod signposts;
mod source;
mod stacks;
mod usdt;
mod watchdog;

use buffers::Traced;
use source::RecordSource;

use model::trace::tier::Missing;
use model::trace::{Clocks, Gap, NotRecorded, Tier, Topic};
use std::ffi::{OsStr, OsString};
use std::io;
use std::time::Duration;
use sys::perf::Capture;

pub use command::{INTERRUPTS_RECORDED, ended_as, record_command, started};
pub use heap::HeapRequest;
#[doc(hidden)]
pub use process::anything;
pub use running::process;
pub use usdt::Usdt;
pub use watchdog::serve_watchdog;

#[derive(Clone, Debug)]
pub struct RecordRequest {
    /// This tier and no other.
    pub tier: Option<Tier>,
    /// No system calls and page faults.
    pub scheduler_only: bool,
    /// Also the interrupts of all CPUs, where that is possible.
    pub interrupts: bool,
    /// Also the stacks with which threads leave their CPU, where that is possible.
    pub stacks: Option<Capture>,
    /// Also these USDT probes, as signposts.
    pub usdt: Option<Usdt>,
    /// Also calls of the command's allocator.
    pub heap: Option<HeapRequest>,
    /// No longer than this.
    pub limit: Option<Duration>,
    /// Keep only so much of the end.
    pub last: Option<Duration>,
    /// The most bytes of records to keep; where only the end is kept, older ones make room.
    pub limit_bytes: u64,
    /// Collect records on other CPUs than this one.
    pub keep_off: Option<u32>,
    /// The CPUs of the machine.
    pub cpus: Vec<u32>,
    pub architecture: String,
    /// Release of its kernel.
    pub kernel: String,
}

#[cfg(test)]
impl RecordRequest {
    /// All that can be recorded of two CPUs.
    fn of_all() -> RecordRequest {
        RecordRequest {
            tier: None,
            scheduler_only: false,
            interrupts: false,
            stacks: None,
            usdt: None,
            heap: None,
            limit: None,
            last: None,
            limit_bytes: u64::MAX,
            keep_off: None,
            cpus: vec![0, 1],
            architecture: "x86_64".into(),
            kernel: "6.18.0".into(),
        }
    }
}

/// The tier that a command, or this process, can be recorded in.
///
/// # Errors
/// That there is no such process, or the tier that was asked for is not possible.
pub fn tier(process: Option<u32>, request: &RecordRequest) -> Result<Tier, RecordError> {
    if let Some(id) = process.filter(|&id| !process::is_process(id)) {
        return Err(RecordError::NoProcess(id));
    }
    let traced = process.map_or(Traced::Command, Traced::Process);
    // The kernel is to get no probes for that.
    let request = RecordRequest { usdt: None, ..request.clone() };
    Ok(RecordSource::open_best_tier(&traced, &request)?.0.tier())
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("can't start {}: {error}", quoted_program(.program))]
    Start { program: OsString, error: io::Error },
    #[error("no command")]
    NoCommand,
    #[error("interrupted before the command started")]
    Interrupted,
    #[error("no process {0}")]
    NoProcess(u32),
    #[error("the tier {} is not available: {reason}", .tier.name())]
    Tier { tier: Tier, reason: NotRecorded },
    #[error("can't start a thread to record with: {0}")]
    NoThread(io::Error),
    #[error("recording failed: {0}")]
    Failed(#[from] io::Error),
}

/// A program's name in a message: quoted if it is empty, or has blanks or control
/// characters.
fn quoted_program(program: &OsStr) -> String {
    let name = program.to_string_lossy();
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control();
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.into_owned(),
        false => format!("{name:?}"),
    }
}

fn gap(topic: Topic, reason: NotRecorded) -> Gap {
    Gap { of: Missing::Topic(topic), reason }
}

fn no_signposts(reason: NotRecorded) -> Gap {
    gap(Topic::Signposts, reason)
}

fn no_heap(reason: NotRecorded) -> Gap {
    gap(Topic::Heap, reason)
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn now() -> Clocks {
    Clocks {
        raw_ns: sys::monotonic_raw_ns(),
        boot_ns: sys::boot_ns(),
        real_ns: sys::realtime_unix_ns(),
    }
}

fn joined<T>(collector: std::thread::ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    let ended = collector.join();
    ended.unwrap_or_else(|_| Err(io::Error::other("collecting the records failed")))
}
