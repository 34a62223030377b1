//! The records of a ring, as the kernel writes them (`perf_event_open(2)`).

use super::bytes::{u16_at, u32_at, u64_at, until_zero};

/// One record of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfRecord<'a> {
    /// When it was written, on CLOCK_MONOTONIC_RAW, in ns. Samples have their
    /// own time.
    pub at_ns: Option<u64>,
    /// What it holds.
    pub body: Body<'a>,
}

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// A sample, of the layout of its [`EventSource`](super::EventSource).
    Sample(&'a [u8]),
    /// So many records found no room since the one before.
    Lost(u64),
    /// A thread was created.
    Fork(TaskIds),
    /// A thread ended.
    Exit(TaskIds),
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
pub struct TaskIds {
    /// The process of the thread.
    pub process: u32,
    /// The thread.
    pub thread: u32,
    /// The process of the thread that created it.
    pub parent_process: u32,
    /// The thread that created it.
    pub parent_thread: u32,
}

pub(super) const HEADER_BYTES: usize = 8;

// `type` in a record's header.
pub(super) const LOST: u32 = 2;
pub(super) const COMM: u32 = 3;
pub(super) const EXIT: u32 = 4;
pub(super) const FORK: u32 = 7;
pub(super) const SAMPLE: u32 = 9;
pub(super) const MMAP2: u32 = 10;
pub(super) const SWITCH: u32 = 14;

// Bits of `misc` in a record's header.
pub(super) const MISC_COMM_EXEC: u16 = 1 << 13;
pub(super) const MISC_SWITCH_OUT: u16 = 1 << 13;
pub(super) const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// `pid tid time`, at the end of a record about threads.
pub(super) const STAMP_BYTES: usize = 16;

/// The records in bytes that [`PerfRing::drain`](super::PerfRing::drain) gave. The last is
/// [`Body::Malformed`] if there are bytes that are no record.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = PerfRecord<'_>> {
    split(bytes).map(parse_record)
}

/// The bytes of each record, for [`parse_record`].
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
pub fn parse_record(bytes: &[u8]) -> PerfRecord<'_> {
    match length(bytes) {
        Some(length) if length == bytes.len() && length >= HEADER_BYTES => record_of(bytes),
        _ => PerfRecord { at_ns: None, body: Body::Malformed(bytes.len()) },
    }
}

fn record_of(record: &[u8]) -> PerfRecord<'_> {
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
        COMM => comm_body(unstamped, misc).map(|named| (stamp(8), named)),
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
    PerfRecord { at_ns, body }
}

/// `pid ppid tid ptid time`.
fn task(body: &[u8]) -> Option<(TaskIds, u64)> {
    let task = TaskIds {
        process: u32_at(body, 0)?,
        thread: u32_at(body, 8)?,
        parent_process: u32_at(body, 4)?,
        parent_thread: u32_at(body, 12)?,
    };
    Some((task, u64_at(body, 16)?))
}

/// `pid tid comm`.
fn comm_body(body: &[u8], misc: u16) -> Option<Body<'_>> {
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
