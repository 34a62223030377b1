//! `eventfd(2)`: a counter in the kernel that one thread adds to and another
//! waits for.

use std::io;
use std::os::fd::OwnedFd;

/// A new eventfd at 0, closed on exec: writing 8 bytes in native byte order
/// adds, reading takes all and waits while the counter is 0.
///
/// # Errors
/// What `eventfd(2)` says; `Unsupported` on Apple systems.
pub fn eventfd() -> io::Result<OwnedFd> {
    #[cfg(target_vendor = "apple")]
    return Err(crate::platform::unsupported("eventfd"));
    #[cfg(not(target_vendor = "apple"))]
    Ok(rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC)?)
}
