//! A signal that a process sends to itself, and an empty handler that catches
//! it: the cost of both.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process, test_kill_process};

/// Handlers belong to the process: one user at a time.
static IN_USE: Mutex<()> = Mutex::new(());

static CAUGHT: AtomicU64 = AtomicU64::new(0);

/// Time within which a signal to oneself must arrive.
const PATIENCE: Duration = Duration::from_secs(1);

extern "C" fn empty(_signal: libc::c_int) {}

extern "C" fn counting(_signal: libc::c_int) {
    CAUGHT.fetch_add(1, Ordering::Relaxed);
}

/// SIGUSR1 with an empty handler, as long as this lives; what handled it
/// before does so again afterwards.
#[derive(Debug)]
pub struct UserSignal {
    before: libc::sigaction,
    process: Pid,
    _only_one: MutexGuard<'static, ()>,
}

impl UserSignal {
    /// Sends one signal to a handler that counts, so that it is known to
    /// arrive, and then installs the empty one. Waits for other threads that use
    /// the signal.
    ///
    /// # Errors
    /// What `sigaction(2)` and `kill(2)` say; `TimedOut` if the signal does
    /// not arrive: this thread blocks it.
    pub fn catch() -> io::Result<UserSignal> {
        let only_one = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let signal =
            UserSignal { before: install(counting)?, process: getpid(), _only_one: only_one };
        signal.arrives()?;
        signal.install()?;
        Ok(signal)
    }

    fn arrives(&self) -> io::Result<()> {
        let before = CAUGHT.load(Ordering::Relaxed);
        self.send()?;
        let began = Instant::now();
        while CAUGHT.load(Ordering::Relaxed) == before {
            if began.elapsed() > PATIENCE {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "a signal to this process does not arrive: SIGUSR1 is blocked",
                ));
            }
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Installs the empty handler (again): an empty mask, no flags, the
    /// handler before asked for.
    #[inline]
    pub fn install(&self) -> io::Result<()> {
        install(empty).map(drop)
    }

    /// Sends SIGUSR1 to this process. With one thread, the handler has run
    /// when this returns (POSIX, `kill`).
    #[inline]
    pub fn send(&self) -> io::Result<()> {
        Ok(kill_process(self.process, Signal::USR1)?)
    }

    /// Sends no signal to this process: `kill(2)` checks and returns.
    #[inline]
    pub fn send_none(&self) -> io::Result<()> {
        Ok(test_kill_process(self.process)?)
    }
}

impl Drop for UserSignal {
    fn drop(&mut self) {
        // Another thread may not yet have taken what was sent last, and what
        // comes back may end the process: ignoring a signal discards it first.
        // SAFETY: all zeros are an action with no flags; what `sigaction` gave
        // out it takes back.
        unsafe {
            let mut ignore: libc::sigaction = std::mem::zeroed();
            ignore.sa_sigaction = libc::SIG_IGN;
            libc::sigaction(libc::SIGUSR1, &raw const ignore, ptr::null_mut());
            libc::sigaction(libc::SIGUSR1, &raw const self.before, ptr::null_mut());
        }
    }
}

/// The name of a signal that ends or stops programs, such as `SIGSEGV`; `None`
/// for the others.
pub fn signal_name(signal: i32) -> Option<&'static str> {
    const NAMES: [(libc::c_int, &str); 19] = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGSTOP, "SIGSTOP"),
        (libc::SIGTSTP, "SIGTSTP"),
        (libc::SIGTTIN, "SIGTTIN"),
        (libc::SIGTTOU, "SIGTTOU"),
    ];
    let named = NAMES.iter().find(|&&(number, _)| number == signal);
    named.map(|&(_, name)| name)
}

/// Installs a handler of SIGUSR1; gives the one before.
#[inline]
fn install(handler: extern "C" fn(libc::c_int)) -> io::Result<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: all zeros are an action with no flags; the handlers of this file
    // do nothing that a handler may not. The kernel fills `before` when it
    // returns 0.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        libc::sigemptyset(&raw mut action.sa_mask);
        if libc::sigaction(libc::SIGUSR1, &raw const action, before.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(before.assume_init())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handler_now() -> libc::sighandler_t {
        let mut now = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: asks only; filled when it returns 0.
        unsafe {
            let status = libc::sigaction(libc::SIGUSR1, ptr::null(), now.as_mut_ptr());
            assert_eq!(status, 0);
            now.assume_init().sa_sigaction
        }
    }

    #[test]
    fn the_handler_is_installed_and_the_previous_one_restored() {
        let before = {
            let _guard = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
            handler_now()
        };
        let signal = UserSignal::catch().expect("not blocked");
        assert_eq!(handler_now(), empty as *const () as libc::sighandler_t);
        for _ in 0..100 {
            signal.install().expect("allowed");
            signal.send_none().expect("allowed");
            // Would end the process if nothing caught it.
            signal.send().expect("allowed");
        }
        let counted = CAUGHT.load(Ordering::Relaxed);
        install(counting).expect("allowed");
        signal.arrives().expect("not blocked");
        assert!(CAUGHT.load(Ordering::Relaxed) > counted);
        drop(signal);
        assert_eq!(handler_now(), before);
    }
}
