//! `sigwait(2)`, which does not tell who sent a signal.

use std::io;

/// Waits for one of the set, which is blocked: its number, and whether the
/// kernel itself sent it, which is not known here. Never `None`: no call of
/// this kind knows a time, so no other thread may take the message.
pub(crate) fn wait(set: &libc::sigset_t) -> io::Result<Option<(libc::c_int, bool)>> {
    let mut signal = 0;
    // SAFETY: both live over the call.
    match unsafe { libc::sigwait(set, &raw mut signal) } {
        0 => Ok(Some((signal, false))),
        libc::EINTR => Ok(None),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// One of the set that waits already (`sigpending(2)`).
pub(crate) fn taken(set: &libc::sigset_t) -> Option<libc::c_int> {
    let mut waiting = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the call fills the set in, of which zero bytes are valid too.
    let waiting = unsafe {
        if libc::sigpending(waiting.as_mut_ptr()) != 0 {
            return None;
        }
        waiting.assume_init()
    };
    // SAFETY: both sets are whole; numbers from 1 to 31 are signals here.
    let both = |signal: &libc::c_int| unsafe {
        libc::sigismember(set, *signal) == 1 && libc::sigismember(&raw const waiting, *signal) == 1
    };
    (1..32)
        .any(|signal| both(&signal))
        .then(|| wait(set).ok().flatten())
        .flatten()
        .map(|(signal, _)| signal)
}
