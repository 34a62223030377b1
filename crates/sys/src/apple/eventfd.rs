//! There is no eventfd on Apple systems.

use std::io;
use std::os::fd::OwnedFd;

pub(crate) fn eventfd() -> io::Result<OwnedFd> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems have no eventfd",
    ))
}
