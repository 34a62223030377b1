//! The shared memory between a traced program and `latlas trace`: 64-bit words
//! in the machine's byte order. A header, a table of names, and rings of
//! records, each written by one thread and emptied by latlas.
//! `include/latlas_signpost.h` has the same numbers.

/// The environment variable with the path of the memory.
pub const VARIABLE: &str = "LATLAS_SIGNPOSTS";

/// First word: `latlassp`.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"latlassp");
/// Second word.
pub const VERSION: u64 = 1;

/// Words of the header.
pub mod header {
    /// [`super::MAGIC`], written last.
    pub const MAGIC: usize = 0;
    /// [`super::VERSION`].
    pub const VERSION: usize = 1;
    /// What records are stamped with: [`super::CLOCK_RAW`] or
    /// [`super::CLOCK_COUNTER`].
    pub const CLOCK: usize = 2;
    /// Entries of the table of names that are taken; may exceed its size.
    pub const NAMES: usize = 8;
    /// Signposts dropped because the table of names is full.
    pub const UNNAMED: usize = 9;
    /// Signposts dropped because no ring was free.
    pub const RINGLESS: usize = 10;
    /// Rings that were ever used: the first ones.
    pub const RINGS_USED: usize = 11;
    /// Length.
    pub const WORDS: usize = 512;
}

/// Stamps are ns of CLOCK_MONOTONIC_RAW.
pub const CLOCK_RAW: u64 = 0;
/// Stamps are ticks of the CPU's counter (TSC, CNTVCT_EL0).
pub const CLOCK_COUNTER: u64 = 1;

/// Entries of the table of names.
pub const NAMES: usize = 4096;
/// Words of an entry: its length in bytes with [`NAME_READY`], and its text.
pub const NAME_WORDS: usize = 16;
/// A longer name is cut off.
pub const NAME_BYTES: usize = (NAME_WORDS - 1) * 8;
/// The entry's text is written.
pub const NAME_READY: u64 = 1 << 63;

/// Words of a ring's header.
pub mod ring {
    /// [`super::FREE`], [`super::USED`] or [`super::CLOSED`].
    pub const STATE: usize = 0;
    /// Process (upper half) and thread (lower half).
    pub const OWNER: usize = 1;
    /// Records written, modulo 2^64.
    pub const HEAD: usize = 2;
    /// Signposts that found no room.
    pub const DROPPED: usize = 3;
    /// Stretches begun and not ended: each has room for its end reserved.
    pub const OPEN: usize = 4;
    /// Records that latlas has read, in another cache line.
    pub const TAIL: usize = 8;
    /// Length.
    pub const WORDS: usize = 16;
}

/// No thread has the ring.
pub const FREE: u64 = 0;
/// A thread has it.
pub const USED: u64 = 1;
/// Its thread has ended.
pub const CLOSED: u64 = 2;

/// Rings.
pub const RINGS: usize = 1024;
/// Records of a ring.
pub const RECORDS: usize = 1 << 15;
/// Words of a record: the stamp, and kind and name ([`word`]).
pub const RECORD_WORDS: usize = 2;

/// Words of a ring.
pub const RING_WORDS: usize = ring::WORDS + RECORDS * RECORD_WORDS;
/// Where the table of names begins.
pub const NAMES_AT: usize = header::WORDS;
/// Where the first ring begins.
pub const RINGS_AT: usize = NAMES_AT + NAMES * NAME_WORDS;
/// All words.
pub const WORDS: usize = RINGS_AT + RINGS * RING_WORDS;

/// What a record marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A stretch begins.
    Begin = 0,
    /// The innermost open stretch of this name ends.
    End = 1,
    /// A moment.
    Moment = 2,
}

/// The second word of a record.
#[inline]
pub const fn word(kind: RecordKind, name: u32) -> u64 {
    (name as u64) << 8 | kind as u64
}

/// Before the names of operations on memory, which are not the program's own signposts.
pub const MEMORY_PREFIX: &str = "memory:";
/// The table has this name where a program loaded the library that records operations on memory.
pub const MEMORY_LOADED: &str = "memory:loaded";

/// The number of bytes that the end of an operation on memory says.
pub const fn end_bytes(word: u64) -> Option<u64> {
    match word >> 24 {
        0 => None,
        bytes => Some(bytes),
    }
}

/// Kind and name of a record; `None` if it is none. Only an end has [`end_bytes`].
pub const fn kind_and_name(word: u64) -> Option<(RecordKind, u32)> {
    let kind = match word & 0xff {
        0 => RecordKind::Begin,
        1 => RecordKind::End,
        2 => RecordKind::Moment,
        _ => return None,
    };
    let name = (word >> 8) as u16 as u32;
    match end_bytes(word) {
        Some(_) if !matches!(kind, RecordKind::End) => None,
        _ => Some((kind, name)),
    }
}
