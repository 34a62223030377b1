//! libdispatch as a part of libSystem, which every program is linked with.

use libloading::Library;
use std::path::PathBuf;

/// The program itself: its libraries' functions are found in it.
pub(crate) fn linked() -> Option<Library> {
    Some(libloading::os::unix::Library::this().into())
}

pub(crate) fn places() -> Vec<PathBuf> {
    Vec::new()
}
