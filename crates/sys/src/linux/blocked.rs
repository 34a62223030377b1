//! Signals of a process that starts others.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// All signals of this thread blocked, as long as this lives.
pub(super) struct Blocked {
    pub(super) before: libc::sigset_t,
}

impl Blocked {
    pub(super) fn all_signals() -> io::Result<Blocked> {
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: the two sets are local; the kernel fills `before`.
        let (status, before) = unsafe {
            let mut every = MaybeUninit::<libc::sigset_t>::zeroed();
            libc::sigfillset(every.as_mut_ptr());
            let status =
                libc::pthread_sigmask(libc::SIG_BLOCK, every.as_ptr(), before.as_mut_ptr());
            (status, before.assume_init())
        };
        match status {
            0 => Ok(Blocked { before }),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: gives back the mask that was there.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut());
        }
    }
}

/// The signals that this process handles.
pub(super) fn caught_signals() -> Vec<i32> {
    let handled = |&signal: &i32| {
        let handler = crate::stop::handler(signal);
        handler.is_some_and(|handler| !matches!(handler, libc::SIG_DFL | libc::SIG_IGN))
    };
    (1..=64).filter(handled).collect()
}
