//! `sigtimedwait(2)`, which tells who sent a signal.

use std::io;
use std::mem::MaybeUninit;

/// How long one wait lasts at most, in ns.
const PATIENCE_NS: libc::c_long = 250_000_000;

/// Waits for one of the set, which is blocked: its number, and whether the
/// kernel itself sent it (the terminal's keys and its hanging up). `None` if
/// none came in a while: where another thread of this process does not block
/// the set, it may have taken the message from under us, so whoever waits for
/// something looks for it again.
pub(crate) fn wait(set: &libc::sigset_t) -> io::Result<Option<(libc::c_int, bool)>> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let patience = libc::timespec {
        tv_sec: 0,
        tv_nsec: PATIENCE_NS,
    };
    // SAFETY: all three live over the call, and the kernel fills the record.
    let signal = unsafe { libc::sigtimedwait(set, info.as_mut_ptr(), &raw const patience) };
    if signal < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
            _ => Err(error),
        };
    }
    // SAFETY: filled in, and all its bytes were zero before.
    let info = unsafe { info.assume_init() };
    Ok(Some((signal, info.si_code == libc::SI_KERNEL)))
}

/// One of the set that waits already (`sigtimedwait(2)` without any time).
pub(crate) fn taken(set: &libc::sigset_t) -> Option<libc::c_int> {
    let now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    loop {
        // SAFETY: both live over the call, and no record is asked for.
        let signal = unsafe { libc::sigtimedwait(set, std::ptr::null_mut(), &raw const now) };
        let error = io::Error::last_os_error();
        if signal > 0 {
            return Some(signal);
        }
        if error.kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}
