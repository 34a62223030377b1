//! There is no death signal on Apple systems.

use std::io;
use std::path::PathBuf;

pub(crate) fn set_death_signal() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems can't end a process with its parent",
    ))
}

/// Rosetta needs no help to start a program again.
pub(crate) fn emulator() -> Option<PathBuf> {
    None
}

pub(crate) fn group_limit() -> Option<u64> {
    None
}
