//! `fork(2)` with a body for the child.

use rustix::process::Pid;
use std::io;

/// Forks a child that runs `body` and exits with its result, with no
/// destructor and no handler.
///
/// # Safety
/// `body` may only call what is async-signal-safe; it must not allocate.
#[inline]
pub(super) unsafe fn fork(body: impl FnOnce() -> i32) -> io::Result<Pid> {
    // SAFETY: the child calls `body`, for which the caller answers, and
    // `_exit`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let code = body();
        // SAFETY: ends the child; nothing of the parent runs in it.
        unsafe { libc::_exit(code) }
    }
    // -1 is no pid.
    Pid::from_raw(pid.max(0)).ok_or_else(io::Error::last_os_error)
}
