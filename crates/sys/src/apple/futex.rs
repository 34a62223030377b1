//! Apple systems have such a call since macOS 14.4 only
//! (`os_sync_wait_on_address`); linking it would shut out the older ones.

use std::io;
use std::sync::atomic::AtomicU32;

fn unsupported() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems have no futex that older versions know too",
    ))
}

#[inline]
pub(crate) fn wait(_word: &AtomicU32, _expected: u32) -> io::Result<()> {
    unsupported()
}

#[inline]
pub(crate) fn wake_one(_word: &AtomicU32) -> io::Result<()> {
    unsupported()
}
