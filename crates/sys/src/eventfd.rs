//! A counter in the kernel that one thread adds to and another waits on.

use std::io;
use std::os::fd::OwnedFd;

use crate::platform;

/// A new `eventfd(2)` at 0, closed on exec: 8 bytes in the machine's order are
/// written to add, and read to take all, which waits while there is nothing.
///
/// # Errors
/// What `eventfd(2)` says; `Unsupported` on Apple systems.
pub fn eventfd() -> io::Result<OwnedFd> {
    platform::eventfd::eventfd()
}
