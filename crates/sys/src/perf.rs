//! `perf_event_open(2)`: events, the ring of memory that the kernel writes their
//! records to, and what such a record holds. Reading records is plain arithmetic
//! on bytes, so that it is tested without a kernel.

mod bytes;
mod records;
mod samples;
#[cfg(test)]
mod tests;

use std::io;

pub use crate::platform::perf_ring::{PerfRing, wait_half_full};
pub use records::{Body, PerfRecord, TaskIds, parse_record, records, split};
#[cfg(not(target_vendor = "apple"))]
pub(crate) use samples::STACK_REGISTERS;
pub use samples::{
    FaultSample, StackCopy, StackSample, UserStack, addresses, fault_sample, served_fault_sample,
    stack_sample,
};

/// An event to open on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfEvent {
    /// What is recorded.
    pub source: EventSource,
    /// Whose.
    pub of: Of,
    /// On which CPU.
    pub cpu: u32,
    /// Also of the threads and processes that it creates from here on. Each of
    /// them carries the event, about 1 µs to create and to end.
    pub inherit: bool,
    /// From when on.
    pub begin: Begin,
}

/// What an event records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSource {
    /// A sample at each page fault in user mode, see [`fault_sample`], and
    /// records about threads.
    PageFaults(Threads),
    /// A sample at the end of each page fault that the kernel served, see
    /// [`served_fault_sample`].
    ServedFaults {
        /// Those that waited for a device, else all others.
        major: bool,
        /// Also those of the kernel itself, while it works for the thread: needs a right where
        /// `kernel.perf_event_paranoid` is above 1.
        in_kernel: bool,
    },
    /// Records about threads. The kernel itself is left out, so that none of
    /// it needs a right beyond `kernel.perf_event_paranoid` 2.
    Threads(Threads),
    /// A sample each time that a thread leaves its CPU, see [`stack_sample`], and
    /// records of code that is mapped and of threads. A switch happens in the
    /// kernel: needs a right where `kernel.perf_event_paranoid` is above 1.
    Stacks(Capture),
}

/// What is recorded of a stack in user mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// The addresses that the kernel finds by frame pointers, at most
    /// `kernel.perf_event_max_stack`.
    FramePointers,
    /// Registers and this many bytes, from which a stack can be unwound: a
    /// multiple of 8 below 64 KiB.
    Copy(u32),
}

/// Which records about threads are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// [`Body::Fork`] and [`Body::Exit`].
    pub tasks: bool,
    /// [`Body::Name`].
    pub names: bool,
    /// [`Body::Map`], of files and of data.
    pub maps: bool,
    /// [`Body::Switch`].
    pub switches: bool,
}

/// Whose events are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Of the calling thread.
    CallingThread,
    /// Of the thread of this number.
    Thread(u32),
    /// Of all threads of the machine: needs CAP_PERFMON where
    /// `kernel.perf_event_paranoid` is above 0.
    Everyone,
}

/// From when on an event records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// As soon as it is open.
    Now,
    /// When the process executes a program.
    OnExec,
}

/// Why there is no ring.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// The event can't be opened: `PermissionDenied` without the right, or where
    /// a sandbox forbids it.
    #[error(transparent)]
    Event(io::Error),
    /// There is no memory for the records (RLIMIT_MEMLOCK).
    #[error(transparent)]
    Memory(io::Error),
}

impl From<RingError> for io::Error {
    fn from(error: RingError) -> io::Error {
        match error {
            RingError::Event(error) | RingError::Memory(error) => error,
        }
    }
}
