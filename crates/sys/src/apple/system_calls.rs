//! Apple systems have no stable numbers; their `getppid()` remembers nothing.

use std::io;

#[inline]
pub(crate) fn parent_id() -> io::Result<u32> {
    // SAFETY: takes no arguments and touches no memory.
    let id = unsafe { libc::getppid() };
    u32::try_from(id).map_err(|_| io::Error::last_os_error())
}
