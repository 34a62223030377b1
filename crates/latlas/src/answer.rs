//! The answer of a child that runs code of a pack: what that code prints must not be taken for it, so it
//! goes through the child's standard input.

use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

/// Gives a command a pipe for its answer; its output is dropped. The command holds the other end until it
/// is dropped.
///
/// # Errors
/// What the system says of pipes.
pub(crate) fn of(command: &mut Command) -> io::Result<PipeReader> {
    let (from, to) = io::pipe()?;
    command.stdin(Stdio::from(OwnedFd::from(to))).stdout(sys::process::null_device()?);
    Ok(from)
}

/// Where the child writes its answer. Its standard input is empty from then on.
///
/// # Errors
/// If standard input can't be replaced.
pub(crate) fn end() -> io::Result<File> {
    let to = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    sys::process::stdin_from_null()?;
    Ok(to)
}
