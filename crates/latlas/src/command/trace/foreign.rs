//! Traces of other recorders, by the first bytes of a file.

use super::{Span, keep_what_fits};
use crate::output;
use crate::program::about;
use ::trace::foreign::{self, FIRST_BYTES, FileFormat, ForeignTrace, Note, Part};
use anyhow::Context;
use model::figure::time;
use model::machine::Machine;
use model::recording::{About, Recording};
use model::run::Run;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// What stands for a file of another recorder.
pub(super) struct ForeignRun {
    pub(super) run: Run,
    /// What is left of the part that was asked for: nothing where no more than that was read.
    pub(super) part: Option<Span>,
}

/// The same as a document holds it.
pub(in crate::command) fn foreign_document(name: &Path) -> anyhow::Result<Option<Run>> {
    let Some(ForeignRun { mut run, .. }) = read_foreign(name, None)? else {
        return Ok(None);
    };
    for recording in &mut run.recordings {
        if let Recording::Trace(trace) = recording {
            keep_what_fits(trace, false);
        }
    }
    Ok(Some(run))
}

/// The run that stands for a file of another recorder; `None` of any other file. Of one that is too long,
/// the part that is asked for is read.
///
/// # Errors
/// Why it can't be read.
pub(super) fn read_foreign(name: &Path, part: Option<Span>) -> anyhow::Result<Option<ForeignRun>> {
    // To open a pipe is to wait for who writes to it.
    let file = name.is_file().then(|| File::open(name).ok());
    let Some(mut file) = file.flatten() else {
        return Ok(None);
    };
    let mut first = Vec::new();
    file.by_ref().take(FIRST_BYTES as u64).read_to_end(&mut first)?;
    let Some(format) = FileFormat::from_first_bytes(&first) else {
        return Ok(None);
    };
    let mut read = |part: Part| {
        file.seek(SeekFrom::Start(0))?;
        let short = name.file_name().unwrap_or(name.as_os_str()).to_string_lossy();
        let read = foreign::read_file(file.try_clone()?, format, &short, part);
        read.with_context(|| name.display().to_string())
    };
    let mut whole = read(Part::default())?;
    let mut left = part;
    if whole.notes.contains(&Note::More)
        && let Some((from_ns, to_ns)) = part
    {
        whole = read(Part { from_ns: Some(from_ns), to_ns: Some(to_ns), limit_bytes: None })?;
        left = None;
        let from = time(from_ns as f64);
        output::message(format_args!("only a part of the file is read: times are since {from}"));
    }
    let ForeignTrace { trace, notes } = whole;
    for note in &notes {
        output::message(format_args!("{note}"));
    }
    let machine = Machine::unknown(trace.architecture.clone(), "recorded by another program");
    let began_ms = match trace.began.real_ns / 1_000_000 {
        // Not known: no later than the file was written.
        0 => written_unix_ms(name)?.saturating_sub(trace.duration_ns / 1_000_000),
        began_ms => began_ms,
    };
    let about = About { wall_ms: trace.duration_ns / 1_000_000, ..about(machine, began_ms, 0) };
    let run = Run::recorded(about, Recording::Trace(Box::new(trace)), None);
    Ok(Some(ForeignRun { run, part: left }))
}

fn written_unix_ms(name: &Path) -> anyhow::Result<u64> {
    let since = std::fs::metadata(name)?.modified()?.duration_since(UNIX_EPOCH);
    Ok(since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0)))
}
