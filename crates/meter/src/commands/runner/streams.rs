//! Files that commands read and write, and what they said last.

use crate::commands::error::{CommandError, Said};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes and lines of a failed command's standard error that are shown.
const SAID_BYTES: u64 = 4096;
const SAID_LINES: usize = 10;

/// What a command wrote last; `None` for nothing.
pub(super) fn last_lines(mut said: File) -> Option<Said> {
    let length = said.metadata().map_or(0, |m| m.len());
    let from = length.saturating_sub(SAID_BYTES);
    let mut bytes = Vec::new();
    let read = said
        .seek(SeekFrom::Start(from))
        .and_then(|_| said.take(SAID_BYTES).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(SAID_LINES)..];
    let last: Vec<String> = last.iter().map(ToString::to_string).collect();
    (read.is_ok() && !last.is_empty()).then_some(Said::Lines(last))
}

pub(super) fn null() -> Result<File, CommandError> {
    let path = PathBuf::from("/dev/null");
    File::options().read(true).write(true).open(&path).map_err(stream("write", &path))
}

pub(super) fn temporary() -> PathBuf {
    std::env::temp_dir().join("a temporary file")
}

pub(super) fn stream(action: &'static str, path: &Path) -> impl Fn(io::Error) -> CommandError {
    let path = path.display().to_string();
    move |error| CommandError::Stream { action, path: path.clone(), error }
}
