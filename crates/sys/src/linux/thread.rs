//! `gettid(2)` and `tgkill(2)`.

use std::io;

pub(crate) fn current_id() -> Option<u32> {
    u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).ok()
}

#[inline]
pub(crate) fn exists(id: u32) -> io::Result<bool> {
    // SAFETY: signal 0 is never delivered, the call only looks the thread up;
    // it takes three numbers.
    let status = unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), id, 0) };
    if status == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        e if e.raw_os_error() == Some(libc::ESRCH) => Ok(false),
        e => Err(e),
    }
}
