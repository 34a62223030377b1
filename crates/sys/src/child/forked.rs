//! A forked copy of this process that goes on by itself.

use super::fork::fork;
use crate::process::set_death_signal;
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::io;
use std::os::unix::process::{ExitStatusExt, parent_id};
use std::process::ExitStatus;

/// Exit code of a child whose parent ended before it could ask to end with it.
const ORPHANED: i32 = 120;

/// Exit code of a child whose body panicked.
pub(super) const PANICKED: i32 = 121;

/// A forked copy of this process that goes on by itself, killed (SIGKILL) and
/// reaped when this is dropped. It ends with its parent too: with the *thread*
/// that forked it on Linux.
#[derive(Debug)]
pub(crate) struct Forked {
    pid: Pid,
    ended: Option<ExitStatus>,
}

impl Forked {
    /// Forks; the child runs `body` and ends with the code that it gives. It
    /// runs no destructor and flushes no buffer.
    ///
    /// # Errors
    /// What `fork(2)` says: mostly `EAGAIN`, too many processes.
    ///
    /// # Safety
    /// `body` may only call what is async-signal-safe; it must not allocate.
    pub(crate) unsafe fn fork(body: impl FnOnce() -> i32) -> io::Result<Forked> {
        let parent = std::process::id();
        // SAFETY: a few system calls and `body`, for which the caller answers.
        let pid = unsafe {
            fork(|| {
                // A panic must not unwind into the child's copy of our callers.
                let _exit = ExitOnUnwind;
                // Without that signal the child must notice by itself that its
                // parent has gone.
                let bound = set_death_signal().is_ok();
                let code = if bound && parent_id() != parent { ORPHANED } else { body() };
                libc::_exit(code)
            })
        }?;
        Ok(Forked { pid, ended: None })
    }

    /// A child that was made otherwise.
    #[cfg(not(target_vendor = "apple"))]
    pub(crate) fn from_pid(pid: Pid) -> Forked {
        Forked { pid, ended: None }
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// How it ended, if it has; reaped then.
    pub(crate) fn try_wait(&mut self) -> Option<ExitStatus> {
        self.reap(WaitOptions::NOHANG)
    }

    /// Ends it if it has not ended, and waits until it is gone. How it ended.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        if self.try_wait().is_none() {
            // Not reaped yet, so the id is still its own.
            let _ = kill_process(self.pid, Signal::KILL);
            self.reap(WaitOptions::empty());
        }
        self.ended
    }

    fn reap(&mut self, options: WaitOptions) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = match retry_on_intr(|| waitpid(Some(self.pid), options)) {
                Ok(Some((_, status))) => Some(ExitStatus::from_raw(status.as_raw())),
                // Reaped elsewhere: it is gone, its status unknown.
                Err(Errno::CHILD) => Some(ExitStatus::default()),
                Ok(None) | Err(_) => None,
            };
        }
        self.ended
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        self.end();
    }
}

struct ExitOnUnwind;

impl Drop for ExitOnUnwind {
    fn drop(&mut self) {
        // SAFETY: ends the process, with no handler and no destructor.
        unsafe { libc::_exit(PANICKED) };
    }
}
