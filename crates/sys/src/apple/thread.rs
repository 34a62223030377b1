//! Apple systems number their threads, but don't tell by that number whether
//! one is still there.

use std::io;

pub(crate) fn current_id() -> Option<u32> {
    None
}

pub(crate) fn exists(_id: u32) -> io::Result<bool> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems do not tell whether a thread is gone",
    ))
}
