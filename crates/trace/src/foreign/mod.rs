//! Traces of other recorders: trace-cmd's `trace.dat`, Perfetto's protocol buffers and JSON. Each becomes a
//! [`Trace`] by the same events and states as a recording of latlas. Files are read from their begin to
//! their end in the order of time, never as a whole.

mod import;
mod in_order;
mod input;
mod json;
mod marks;
mod perfetto;
mod trace_dat;

use import::{About, Importer};
use input::TraceInput;
use model::trace::Trace;
use std::fs::File;
use std::io;

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    TraceDat,
    Perfetto,
    Json,
}

/// So many bytes tell the format of a file.
pub const FIRST_BYTES: usize = 1 << 16;

impl FileFormat {
    /// `None` of a file that no other recorder wrote that is known here.
    pub fn from_first_bytes(first: &[u8]) -> Option<FileFormat> {
        if first.starts_with(&trace_dat::MAGIC) {
            return Some(FileFormat::TraceDat);
        }
        let is_json = json::is_trace(first);
        let is_perfetto = || perfetto::is_trace(first).then_some(FileFormat::Perfetto);
        is_json.then_some(FileFormat::Json).or_else(is_perfetto)
    }
}

/// The part of a file that is read, in ns since its first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub from_ns: Option<u64>,
    pub to_ns: Option<u64>,
    /// No more is kept in memory than about so much.
    pub limit_bytes: Option<usize>,
}

/// A trace of another recorder.
#[derive(Debug)]
pub struct ForeignTrace {
    pub trace: Trace,
    /// What was left out, and why.
    pub notes: Vec<Note>,
}

/// What a reader must know of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Note {
    #[error(
        "the file holds more than a trace can: latlas trace show, why and export read a part of it (--from, --to)"
    )]
    More,
    #[error("only the buffer {used:?} is read, not {}", .others.join(", "))]
    Buffers { used: String, others: Vec<String> },
    #[error(
        "{0} spans that aren't of a thread (asynchronous) are left out: they lie on more than 1000 lanes"
    )]
    Asynchronous(u64),
    #[error("{0} ends without a begin are left out")]
    Ends(u64),
    #[error("{0} markers of more than 65,536 different names are left out")]
    Names(u64),
    #[error("{0} events on a clock that no snapshot relates to the others are left out")]
    Clock(u64),
    #[error("{0} events whose names were dropped by the recorder are left out")]
    Dropped(u64),
}

/// Why a file can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error("the file is cut off in its head")]
    CutOff,
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    #[error("version {0} of trace.dat is not known")]
    Version(String),
    #[error("the compression {0} is not known")]
    Compression(String),
    #[error("the clock {0:?} does not count ns")]
    Clock(String),
    #[error("the file has no event of a thread: record sched_switch and sched_waking at least")]
    Empty,
}

/// Reads a file of another recorder.
///
/// # Errors
/// If it can't be read or has nothing of a thread.
pub fn read_file(
    file: File,
    format: FileFormat,
    name: &str,
    part: Part,
) -> Result<ForeignTrace, ForeignError> {
    read_input(&TraceInput::of_file(file)?, format, name, part)
}

/// [`read_file`] of bytes that are in memory.
///
/// # Errors
/// The same.
pub fn read_bytes(
    bytes: Vec<u8>,
    format: FileFormat,
    name: &str,
    part: Part,
) -> Result<ForeignTrace, ForeignError> {
    read_input(&TraceInput::Memory(bytes), format, name, part)
}

fn read_input(
    input: &TraceInput,
    format: FileFormat,
    name: &str,
    part: Part,
) -> Result<ForeignTrace, ForeignError> {
    match format {
        FileFormat::TraceDat => trace_dat::read_trace_dat(input, name, part),
        FileFormat::Perfetto => perfetto::read_perfetto(input, name, part),
        FileFormat::Json => json::read_json(input, name, part),
    }
}
