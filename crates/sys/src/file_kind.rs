//! What is found where a regular file should be.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;

/// What has the name is not a regular file.
#[derive(Debug, thiserror::Error)]
#[error("it is {0}, not a file")]
struct NotAFile(&'static str);

/// Refuses what is no regular file.
///
/// # Errors
/// What it is instead, for which [`is_not_a_file`] holds.
pub fn check_kind(kind: FileType) -> io::Result<()> {
    if kind.is_file() { Ok(()) } else { Err(not_a_file(kind)) }
}

/// The error for a file of this kind.
pub(crate) fn not_a_file(kind: FileType) -> io::Error {
    io::Error::other(NotAFile(match kind {
        _ if kind.is_dir() => "a directory",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }))
}

/// The error for what the system refuses to open for reading with `ENXIO`.
pub(crate) fn not_opened() -> io::Error {
    io::Error::other(NotAFile("a socket or device"))
}

/// Whether an error says what is there, a directory or a pipe, and not that the system failed to
/// read it.
pub fn is_not_a_file(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotAFile>())
}
