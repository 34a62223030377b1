//! Children: each in a process group that ends with this process, with a time limit, and with what it wrote.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;
use sys::command::{Command, End, ProcessGroup, Streams, Usage, WaitLimits, find_program};
use sys::counters::Counters;

/// So much of what a child wrote is read.
const MOST_READ_BYTES: u64 = 64 << 20;
/// So many of its last lines are shown.
const LAST_LINES: usize = 6;

/// Variables and their values.
pub type Variables = Vec<(OsString, OsString)>;

/// What is to run.
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    pub words: &'a [String],
    pub variables: &'a [(OsString, OsString)],
    pub directory: &'a Path,
    pub limit: Duration,
}

/// A child that has ended.
#[derive(Debug)]
pub struct EndedChild {
    pub end: End,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub usage: Usage,
}

impl EndedChild {
    /// The last lines that it wrote, those of its standard error first, as one.
    pub fn last_words(&self) -> String {
        let text = if self.err.trim_ascii().is_empty() { &self.out } else { &self.err };
        let text = String::from_utf8_lossy(text);
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LAST_LINES)..].join(" | ");
        model::printable::visible(&last)
    }

    /// The exit code 0.
    pub fn is_success(&self) -> bool {
        self.end == End::Code(0)
    }

    pub fn out_text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

/// Why a child has no end.
#[derive(thiserror::Error, Debug)]
pub enum ProcessError {
    #[error("command not found: {0:?}")]
    NotFound(String),
    #[error("can't run {program:?}: {error}")]
    NotStarted { program: String, error: io::Error },
    #[error("can't keep what a child writes: {0}")]
    Kept(io::Error),
    #[error("interrupted")]
    Interrupted,
}

/// Runs children, one at a time.
#[derive(Debug)]
pub struct Processes {
    group: Option<ProcessGroup>,
    counters: Counters,
    wake: Option<OwnedFd>,
    null: File,
}

impl Processes {
    /// `wake` becomes readable when no more is wanted.
    ///
    /// # Errors
    /// Without `/dev/null`.
    pub fn new(wake: Option<OwnedFd>) -> Result<Processes, ProcessError> {
        let null = sys::process::null_device().map_err(ProcessError::Kept)?;
        Ok(Processes { group: None, counters: Counters::open(), wake, null })
    }

    /// Runs a child to its end, and ends what it leaves running.
    ///
    /// # Errors
    /// If it can't be started, or no more is wanted.
    pub fn run(&mut self, child: &Child) -> Result<EndedChild, ProcessError> {
        let program = child.words.first().map_or("", String::as_str);
        let failed = |error| ProcessError::NotStarted { program: program.to_owned(), error };
        let path = find_program(program.as_ref())
            .filter(|path| path.exists())
            .ok_or_else(|| ProcessError::NotFound(program.to_owned()))?;
        let arguments = child.words.get(1..).unwrap_or_default();
        let command = Command::placed(&path, arguments, child.variables, child.directory);
        let command = command.map_err(failed)?;
        let [mut out, mut err] = [File::options(), File::options()].map(|_| tempfile::tempfile());
        let (Ok(out), Ok(err)) = (&mut out, &mut err) else {
            return Err(ProcessError::Kept(
                out.err().or(err.err()).unwrap_or(io::ErrorKind::Other.into()),
            ));
        };
        let streams = Streams { input: self.null.as_fd(), output: out.as_fd(), error: err.as_fd() };
        let limits =
            WaitLimits { time: Some(child.limit), wake: self.wake.as_ref().map(AsFd::as_fd) };
        let mut group = match self.group.take() {
            Some(group) => group,
            None => ProcessGroup::new_group().map_err(failed)?,
        };
        let finished = group.run_command(&command, streams, &mut self.counters, limits);
        let finished = finished.map_err(|not| failed(not.error))?;
        if finished.end == End::Interrupted {
            return Err(ProcessError::Interrupted);
        }
        // A group that was killed is of no use, and one with members would disturb the next child.
        let is_whole = matches!(finished.end, End::Code(_) | End::Signal(_));
        if is_whole && group.members().is_ok_and(|members| members.is_empty()) {
            self.group = Some(group);
        }
        let read = |file: &mut File| {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(0))?;
            file.take(MOST_READ_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let [out, err] = [out, err].map(|file| read(file).map_err(ProcessError::Kept));
        Ok(EndedChild { end: finished.end, out: out?, err: err?, usage: finished.usage })
    }
}

/// Variables of this process, with others in their place.
pub(crate) fn own_variables(others: &[(&str, OsString)]) -> Variables {
    let is_other = |name: &OsString| others.iter().any(|(other, _)| name == other);
    let mut all: Variables = std::env::vars_os().filter(|(name, _)| !is_other(name)).collect();
    all.extend(others.iter().map(|(name, value)| ((*name).into(), value.clone())));
    all
}
