//! System calls by their number.

use std::io;

/// By number: a C library may remember what `getppid()` said.
#[inline]
pub(crate) fn parent_id() -> io::Result<u32> {
    // SAFETY: takes no arguments and touches no memory.
    let id = unsafe { libc::syscall(libc::SYS_getppid) };
    u32::try_from(id).map_err(|_| io::Error::last_os_error())
}
