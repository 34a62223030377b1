//! A process that is a copy of this one and goes on by itself.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::platform;

/// Exit code of a child whose parent ended before it could ask to end with it.
const ORPHANED: i32 = 120;
/// Exit code of a child whose body panicked.
const PANICKED: i32 = 121;

/// A forked child, ended by SIGKILL and reaped when this is dropped. It ends
/// with its parent too: with the *thread* that forked it on Linux.
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
    /// Other threads of the parent don't exist in the child, and locks that
    /// they held stay locked for ever: `body` may only call what is
    /// async-signal-safe. It must not allocate.
    pub(crate) unsafe fn start(body: impl FnOnce() -> i32) -> io::Result<Forked> {
        let parent = std::process::id();
        // SAFETY: the child does nothing but the few system calls below and
        // `body`, for which the caller answers, and never returns.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // A panic must not unwind into the child's copy of our callers.
            let _end = EndHere;
            // Where the system can't promise it, what the child waits for
            // must tell it that the parent has gone.
            let promised = platform::process::set_death_signal().is_ok();
            let code = if promised && std::os::unix::process::parent_id() != parent {
                ORPHANED
            } else {
                body()
            };
            // SAFETY: ends the process, with no handler and no destructor.
            unsafe { libc::_exit(code) };
        }
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::Other)?;
        Ok(Forked { pid, ended: None })
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
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
                // Somebody else reaped it: it is gone, nobody knows how.
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

struct EndHere;

impl Drop for EndHere {
    fn drop(&mut self) {
        // SAFETY: ends the process, with no handler and no destructor.
        unsafe { libc::_exit(PANICKED) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(body: impl FnOnce() -> i32) -> Forked {
        // SAFETY: each body below is arithmetic, a system call or a panic,
        // which prints, but in a test.
        unsafe { Forked::start(body) }.expect("a process")
    }

    fn ended(child: &mut Forked) -> ExitStatus {
        loop {
            if let Some(status) = child.try_wait() {
                return status;
            }
            std::thread::yield_now();
        }
    }

    fn is_gone(id: u32) -> bool {
        let pid = Pid::from_raw(id.cast_signed()).expect("an id");
        matches!(waitpid(Some(pid), WaitOptions::NOHANG), Err(Errno::CHILD))
    }

    #[test]
    fn a_child_ends_with_its_bodys_code_and_is_reaped() {
        let mut child = child(|| 7);
        assert_eq!(ended(&mut child).code(), Some(7));
        assert!(is_gone(child.id()));
        assert_eq!(child.end().and_then(|s| s.code()), Some(7), "no second end");
    }

    #[test]
    fn a_child_that_does_not_end_is_ended() {
        let child = child(|| {
            loop {
                // SAFETY: a system call without arguments.
                unsafe { libc::pause() };
            }
        });
        let id = child.id();
        drop(child);
        assert!(is_gone(id));
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn a_refused_fork_is_an_error() {
        // In a child, where nobody else misses what is given up.
        let mut limited = child(|| {
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            // SAFETY: the first reads `none`, the second takes a number. As a
            // bare call it concerns this thread alone, which is all there is.
            let limited = unsafe {
                libc::setrlimit(libc::RLIMIT_NPROC, &raw const none) == 0
                    // No limit holds for root.
                    && (libc::geteuid() != 0 || libc::syscall(libc::SYS_setuid, 65_534) == 0)
            };
            if !limited {
                return 2;
            }
            // SAFETY: the body does nothing.
            match unsafe { Forked::start(|| 0) } {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => 0,
                Err(_) => 3,
                Ok(_) => 4,
            }
        });
        assert_eq!(ended(&mut limited).code(), Some(0));
    }

    #[test]
    fn a_panic_ends_the_child_and_does_not_return() {
        let mut child = child(|| {
            // The hook would print, and may wait for a lock of another thread.
            std::panic::resume_unwind(Box::new(()))
        });
        assert_eq!(ended(&mut child).code(), Some(PANICKED));
    }
}
