//! `perf_event_open(2)`: events, the ring of memory that the kernel writes their
//! records to, and what such a record holds. Reading records is plain arithmetic
//! on bytes, so that it is tested without a kernel.

use std::io;

pub use crate::platform::perf_ring::{Ring, wait};

/// An event to open on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What is recorded.
    pub source: Source,
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
pub enum Source {
    /// A sample at each passage of the tracepoint with this id, see
    /// [`tracepoint_sample`].
    Tracepoint(u64),
    /// A sample at each page fault in user mode, see [`fault_sample`], and
    /// records about threads.
    PageFaults(Threads),
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

/// One record of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// When it was written, on CLOCK_MONOTONIC_RAW, in ns. Samples have their
    /// own time.
    pub at_ns: Option<u64>,
    /// What it holds.
    pub body: Body<'a>,
}

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// A sample, of the layout of its [`Source`].
    Sample(&'a [u8]),
    /// So many records found no room since the one before.
    Lost(u64),
    /// A thread was created.
    Fork(Task),
    /// A thread ended.
    Exit(Task),
    /// A thread got a name.
    Name {
        /// Its process.
        process: u32,
        /// Its number.
        thread: u32,
        /// The name.
        name: &'a [u8],
        /// It executes a program.
        exec: bool,
    },
    /// Memory was mapped.
    Map {
        /// By this process,
        process: u32,
        /// by this thread,
        thread: u32,
        /// here,
        address: u64,
        /// so much,
        bytes: u64,
        /// from here on in the file,
        offset: u64,
        /// whose inode this is,
        inode: u64,
        /// of this file.
        file: &'a [u8],
    },
    /// A thread was switched in or out.
    Switch {
        /// Its number.
        thread: u32,
        /// Out, else in.
        out: bool,
        /// It was ready to run when it was switched out: preempted, or it
        /// yielded.
        ready: bool,
    },
    /// Another record.
    Other,
    /// Not a record: this many bytes, to the end, can't be read.
    Malformed(usize),
}

/// Of [`Body::Fork`] and [`Body::Exit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The process of the thread.
    pub process: u32,
    /// The thread.
    pub thread: u32,
    /// The process of the thread that created it.
    pub parent_process: u32,
    /// The thread that created it.
    pub parent_thread: u32,
}

const HEADER_BYTES: usize = 8;

// `type` in a record's header.
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const SWITCH: u32 = 14;

// Bits of `misc` in a record's header.
const MISC_COMM_EXEC: u16 = 1 << 13;
const MISC_SWITCH_OUT: u16 = 1 << 13;
const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// `pid tid time`, at the end of a record about threads.
const STAMP_BYTES: usize = 16;

/// The records in bytes that [`Ring::drain`] gave. The last is
/// [`Body::Malformed`] if there are bytes that are no record.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    split(bytes).map(record)
}

/// The bytes of each record, for [`record`].
pub fn split(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let whole = length(bytes).filter(|&n| (HEADER_BYTES..=bytes.len()).contains(&n));
        let (record, rest) = bytes.split_at(whole.unwrap_or(bytes.len()));
        bytes = rest;
        Some(record)
    })
}

/// The length in a record's header.
fn length(bytes: &[u8]) -> Option<usize> {
    u16_at(bytes, 6).map(usize::from)
}

/// The record of these bytes.
pub fn record(bytes: &[u8]) -> Record<'_> {
    match length(bytes) {
        Some(length) if length == bytes.len() && length >= HEADER_BYTES => record_of(bytes),
        _ => Record {
            at_ns: None,
            body: Body::Malformed(bytes.len()),
        },
    }
}

fn record_of(record: &[u8]) -> Record<'_> {
    let kind = u32_at(record, 0).unwrap_or(0);
    let misc = u16_at(record, 4).unwrap_or(0);
    let body = &record[HEADER_BYTES..];
    // The time is the last word of every stamped record.
    let stamp = |least: usize| {
        let at = body.len().checked_sub(8).filter(|&at| at >= least)?;
        u64_at(body, at)
    };
    let unstamped = &body[..body.len().saturating_sub(STAMP_BYTES)];
    let parsed = match kind {
        SAMPLE => Some((None, Body::Sample(body))),
        LOST => u64_at(body, 8).map(|lost| (stamp(16), Body::Lost(lost))),
        FORK | EXIT => task(body).map(|(task, at_ns)| {
            let body = match kind {
                FORK => Body::Fork(task),
                _ => Body::Exit(task),
            };
            (Some(at_ns), body)
        }),
        COMM => named(unstamped, misc).map(|named| (stamp(8), named)),
        MMAP2 => mapped(unstamped).map(|mapped| (stamp(8), mapped)),
        SWITCH => u32_at(body, 4).map(|thread| {
            let switch = Body::Switch {
                thread,
                out: misc & MISC_SWITCH_OUT != 0,
                ready: misc & MISC_SWITCH_OUT_PREEMPT != 0,
            };
            (stamp(8), switch)
        }),
        _ => Some((None, Body::Other)),
    };
    let (at_ns, body) = parsed.unwrap_or((None, Body::Other));
    Record { at_ns, body }
}

/// `pid ppid tid ptid time`.
fn task(body: &[u8]) -> Option<(Task, u64)> {
    let task = Task {
        process: u32_at(body, 0)?,
        thread: u32_at(body, 8)?,
        parent_process: u32_at(body, 4)?,
        parent_thread: u32_at(body, 12)?,
    };
    Some((task, u64_at(body, 16)?))
}

/// `pid tid comm`.
fn named(body: &[u8], misc: u16) -> Option<Body<'_>> {
    Some(Body::Name {
        process: u32_at(body, 0)?,
        thread: u32_at(body, 4)?,
        name: until_zero(body.get(8..)?),
        exec: misc & MISC_COMM_EXEC != 0,
    })
}

/// `pid tid addr len pgoff maj min ino ino_generation prot flags filename`.
fn mapped(body: &[u8]) -> Option<Body<'_>> {
    Some(Body::Map {
        process: u32_at(body, 0)?,
        thread: u32_at(body, 4)?,
        address: u64_at(body, 8)?,
        bytes: u64_at(body, 16)?,
        offset: u64_at(body, 24)?,
        inode: u64_at(body, 40)?,
        file: until_zero(body.get(64..)?),
    })
}

/// The sample of a tracepoint: its time, and the fields that tracefs describes.
pub fn tracepoint_sample(body: &[u8]) -> Option<(u64, &[u8])> {
    let length = u32_at(body, 8)? as usize;
    Some((u64_at(body, 0)?, body.get(12..)?.get(..length)?))
}

/// The sample of a page fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSample {
    /// The process,
    pub process: u32,
    /// the thread,
    pub thread: u32,
    /// when, in ns,
    pub at_ns: u64,
    /// and the address.
    pub address: u64,
}

/// The sample of a page fault: `pid tid time addr`.
pub fn fault_sample(body: &[u8]) -> Option<FaultSample> {
    Some(FaultSample {
        process: u32_at(body, 0)?,
        thread: u32_at(body, 4)?,
        at_ns: u64_at(body, 8)?,
        address: u64_at(body, 16)?,
    })
}

/// The stack of a thread in user mode when it left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSample<'a> {
    /// The process,
    pub process: u32,
    /// the thread,
    pub thread: u32,
    /// when, in ns,
    pub at_ns: u64,
    /// and what is recorded of its stack.
    pub stack: UserStack<'a>,
}

/// What a sample holds of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserStack<'a> {
    /// The address of the instruction and those of returns, the innermost
    /// first: see [`addresses`].
    Addresses(&'a [u8]),
    /// To be unwound.
    Copy(StackCopy<'a>),
}

/// A stack that was copied, with the registers from which it is unwound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackCopy<'a> {
    /// Address of the instruction.
    pub instruction: u64,
    /// Stack pointer: the address of the first of `bytes`.
    pub stack: u64,
    /// Frame pointer.
    pub frame: u64,
    /// Where the function returns to, on processors with such a register.
    pub link: u64,
    /// The stack, as much as was copied.
    pub bytes: &'a [u8],
}

/// The sample of a stack: `pid tid time`, then `nr ips` or `abi regs size data
/// dyn_size`. A thread without a user mode has no addresses.
pub fn stack_sample(body: &[u8], capture: Capture) -> Option<StackSample<'_>> {
    let rest = body.get(STAMP_BYTES..)?;
    let count = u64_at(rest, 0)?;
    let rest = &rest[8..];
    let stack = match capture {
        Capture::FramePointers => {
            let bytes = usize::try_from(count).ok()?.checked_mul(8)?;
            UserStack::Addresses(rest.get(..bytes)?)
        }
        // No registers: it is ending.
        Capture::Copy(_) if count == 0 => UserStack::Addresses(&[]),
        Capture::Copy(_) => {
            let register = |bit| {
                let at = STACK_REGISTERS.iter().position(|&other| other == bit)?;
                u64_at(rest, at * 8)
            };
            let copied = rest.get(STACK_REGISTERS.len() * 8..)?;
            let room = usize::try_from(u64_at(copied, 0)?).ok()?;
            let data = copied.get(8..)?.get(..room)?;
            // Without room, its end says nothing either.
            let used = match room {
                0 => 0,
                _ => usize::try_from(u64_at(copied, 8 + room)?).ok()?,
            };
            UserStack::Copy(StackCopy {
                instruction: register(INSTRUCTION_POINTER)?,
                stack: register(STACK_POINTER)?,
                frame: register(FRAME_POINTER)?,
                link: LINK_REGISTER.map_or(Some(0), register)?,
                bytes: data.get(..used)?,
            })
        }
    };
    Some(StackSample {
        process: u32_at(body, 0)?,
        thread: u32_at(body, 4)?,
        at_ns: u64_at(body, 8)?,
        stack,
    })
}

/// The addresses of [`UserStack::Addresses`].
pub fn addresses(bytes: &[u8]) -> impl Iterator<Item = u64> {
    /// What lies above marks where those of the kernel or the user begin
    /// (`PERF_CONTEXT_MAX`).
    const LEAST_MARK: u64 = -4095_i64 as u64;
    let (words, _) = bytes.as_chunks();
    let words = words.iter().map(|word| u64::from_ne_bytes(*word));
    words.filter(|&address| address < LEAST_MARK)
}

// Bits of `sample_regs_user` (`asm/perf_regs.h`).
#[cfg(not(target_arch = "aarch64"))]
mod registers {
    pub(crate) const FRAME_POINTER: u32 = 6;
    pub(crate) const STACK_POINTER: u32 = 7;
    pub(crate) const INSTRUCTION_POINTER: u32 = 8;
    pub(crate) const LINK_REGISTER: Option<u32> = None;
    /// Those that a stack is unwound from, in the order of a sample.
    pub(crate) const STACK_REGISTERS: &[u32] = &[FRAME_POINTER, STACK_POINTER, INSTRUCTION_POINTER];
}
#[cfg(target_arch = "aarch64")]
mod registers {
    pub(crate) const FRAME_POINTER: u32 = 29;
    const LINK: u32 = 30;
    pub(crate) const STACK_POINTER: u32 = 31;
    pub(crate) const INSTRUCTION_POINTER: u32 = 32;
    pub(crate) const LINK_REGISTER: Option<u32> = Some(LINK);
    /// Those that a stack is unwound from, in the order of a sample.
    pub(crate) const STACK_REGISTERS: &[u32] =
        &[FRAME_POINTER, LINK, STACK_POINTER, INSTRUCTION_POINTER];
}
pub(crate) use registers::STACK_REGISTERS;
use registers::{FRAME_POINTER, INSTRUCTION_POINTER, LINK_REGISTER, STACK_POINTER};

/// Name of a C string's bytes.
fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&b| b == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_ne_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(HEADER_BYTES + body.len()).expect("short");
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes());
        bytes.extend(length.to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn each_kind_of_record() {
        let mut bytes = record(FORK, 0, &words(&[10, 10, 12, 11, 77, 0, 10, 11, 78, 0]));
        bytes.extend(record(EXIT, 0, &words(&[10, 1, 12, 1, 79, 0])));
        let lost = [words(&[5, 0, 3, 0]), words(&[80, 0])].concat();
        bytes.extend(record(LOST, 0, &lost));
        let name = [
            words(&[10, 12]),
            b"worker\0\0".to_vec(),
            words(&[10, 12, 81, 0]),
        ]
        .concat();
        bytes.extend(record(COMM, MISC_COMM_EXEC, &name));
        let out = MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT;
        bytes.extend(record(SWITCH, out, &words(&[10, 12, 82, 0])));
        bytes.extend(record(SWITCH, 0, &words(&[10, 12, 83, 0])));
        let task = Task {
            process: 10,
            thread: 12,
            parent_process: 10,
            parent_thread: 11,
        };
        let ended = Task {
            parent_process: 1,
            parent_thread: 1,
            ..task
        };
        let switch = |out, ready| Body::Switch {
            thread: 12,
            out,
            ready,
        };
        let name = Body::Name {
            process: 10,
            thread: 12,
            name: b"worker",
            exec: true,
        };
        let wanted = [
            (77, Body::Fork(task)),
            (79, Body::Exit(ended)),
            (80, Body::Lost(3)),
            (81, name),
            (82, switch(true, true)),
            (83, switch(false, false)),
        ];
        let wanted = wanted.map(|(at_ns, body)| Record {
            at_ns: Some(at_ns),
            body,
        });
        assert_eq!(records(&bytes).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn memory_that_was_mapped() {
        let mut body = words(&[10, 12]);
        for word in [0x7f00_u64, 4096, 0x1000, 0, 42, 0, 3] {
            body.extend(word.to_ne_bytes());
        }
        body.extend(b"//anon\0\0");
        body.extend(words(&[10, 12, 84, 0]));
        let bytes = record(MMAP2, 0, &body);
        let wanted = Record {
            at_ns: Some(84),
            body: Body::Map {
                process: 10,
                thread: 12,
                address: 0x7f00,
                bytes: 4096,
                offset: 0x1000,
                inode: 42,
                file: b"//anon",
            },
        };
        assert_eq!(records(&bytes).collect::<Vec<_>>(), [wanted]);
    }

    #[test]
    fn samples() {
        let mut body = 90_u64.to_ne_bytes().to_vec();
        body.extend(3_u32.to_ne_bytes());
        body.extend([1, 2, 3, 0]);
        assert_eq!(tracepoint_sample(&body), Some((90, &[1, 2, 3][..])));
        body[8] = 9;
        assert_eq!(tracepoint_sample(&body), None, "longer than the record");
        let fault = words(&[10, 12, 91, 0, 4096, 0]);
        let wanted = FaultSample {
            process: 10,
            thread: 12,
            at_ns: 91,
            address: 4096,
        };
        assert_eq!(fault_sample(&fault), Some(wanted));
    }

    #[test]
    fn what_is_cut_off_ends_the_records() {
        let whole = record(EXIT, 0, &words(&[10, 1, 12, 1, 79, 0]));
        for length in 1..whole.len() {
            let bodies: Vec<_> = records(&whole[..length]).map(|r| r.body).collect();
            assert_eq!(bodies, [Body::Malformed(length)], "{length}");
        }
        // A record of no length does not stand still, a short one is not read.
        let none: Vec<_> = records(&[0; 16]).map(|r| r.body).collect();
        assert_eq!(none, [Body::Malformed(16)]);
        for kind in 0..20 {
            let bytes = record(kind, 0, &[0; 4]);
            let bodies: Vec<_> = records(&bytes).map(|r| r.body).collect();
            let sample = Body::Sample(&[0; 4]);
            let wanted = if kind == SAMPLE { sample } else { Body::Other };
            assert_eq!(bodies, [wanted], "{kind}");
        }
    }
}
