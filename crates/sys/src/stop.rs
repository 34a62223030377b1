//! Requests to end (SIGINT, SIGTERM, SIGHUP) as a measuring program needs them:
//! the first asks to stop and keep what there is. And SIGXFSZ, which would end
//! a program that a failed write need not end.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What asks a process to end. SIGHUP does not where it was ignored at the start, as by `nohup`
/// ([`requests`]). SIGINT does also where it was: shells start background jobs so, and `kill -INT`
/// is to end them.
const REQUESTS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Requests within so long of the first are that one: `timeout(1)` sends each
/// of its own twice, to its child and to the whole group.
const ONE_REQUEST_NS: u64 = 1_000_000_000;

static ASKED: AtomicBool = AtomicBool::new(false);
/// When it was asked first, on the monotonic clock; 0 before.
static FIRST_NS: AtomicU64 = AtomicU64::new(0);

/// The signals that ask this process to end: SIGINT, SIGTERM, and SIGHUP unless it is ignored.
pub fn requests() -> Vec<i32> {
    let asks = |signal: &i32| *signal != libc::SIGHUP || !is_ignored(*signal);
    REQUESTS.into_iter().filter(asks).collect()
}

/// Whether this process ignores a signal. One that is blocked waits nevertheless
/// (sigaction(2)).
pub(crate) fn is_ignored(signal: libc::c_int) -> bool {
    handler(signal) == Some(libc::SIG_IGN)
}

/// What this process does at a signal: SIG_DFL, SIG_IGN or the address of its
/// handler; `None` where there is no such signal.
pub(crate) fn handler(signal: libc::c_int) -> Option<libc::sighandler_t> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: sets nothing; the kernel fills the record in, of which zero bytes
    // are valid too.
    unsafe {
        (libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0)
            .then(|| action.assume_init().sa_sigaction)
    }
}

/// From here on the first request to end sets what is returned; another one
/// that comes more than a second later ends the process at once. May be called
/// again: there is one such flag, however often something is measured.
pub fn on_request() -> io::Result<&'static AtomicBool> {
    static LISTENING: AtomicBool = AtomicBool::new(false);
    if !LISTENING.swap(true, Ordering::Relaxed) {
        handle(&requests(), request)?;
    }
    Ok(&ASKED)
}

/// From here on requests to end do nothing to this process, which another one
/// ends; programs that it starts have them as usual.
pub fn outlive_requests() -> io::Result<()> {
    handle(&requests(), nothing)
}

/// From here on a write beyond the limit on the size of files (`ulimit -f`)
/// fails with EFBIG instead of ending the process; programs that it starts have
/// SIGXFSZ as usual.
pub fn survive_file_limit() -> io::Result<()> {
    handle(&[libc::SIGXFSZ], nothing)
}

extern "C" fn nothing(_signal: libc::c_int) {}

extern "C" fn request(signal: libc::c_int) {
    let now = now_ns();
    match FIRST_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => ASKED.store(true, Ordering::Relaxed),
        Err(first) if now.saturating_sub(first) < ONE_REQUEST_NS => {}
        // SAFETY: both may be called in a handler (signal-safety(7)); the signal
        // is blocked in it and delivered, to its default, when it returns.
        Err(_) => unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        },
    }
}

/// The monotonic clock, never 0.
fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: may be called in a handler (signal-safety(7)), and writes one
    // `timespec`; this clock can't fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    (now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64).max(1)
}

/// Handlers, and no ignoring: a program that is executed gets the default back.
fn handle(signals: &[libc::c_int], handler: extern "C" fn(libc::c_int)) -> io::Result<()> {
    for &signal in signals {
        // SAFETY: all zeros are an action with an empty mask; the handlers of
        // this file do nothing that a handler may not.
        let set = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, ptr::null_mut())
        };
        if set != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::time::Duration;

    /// Set for the process in which a test sends signals to itself.
    const VARIABLE: &str = "LATLAS_TEST_OF_STOP";

    /// Runs one test of this file again, in a process of its own.
    fn apart(test: &str) -> std::process::ExitStatus {
        let program = std::env::current_exe().expect("it has a name");
        let output = Command::new(program)
            .args(["--exact", &format!("stop::tests::{test}"), "--nocapture"])
            .env(VARIABLE, test)
            .output();
        output.expect("it runs").status
    }

    fn raise(signal: libc::c_int) {
        // SAFETY: to this thread; handled or fatal.
        unsafe { libc::raise(signal) };
    }

    #[test]
    fn a_later_request_ends_and_those_of_one_second_are_one() {
        const TEST: &str = "a_later_request_ends_and_those_of_one_second_are_one";
        if std::env::var(VARIABLE).as_deref() != Ok(TEST) {
            assert_eq!(apart(TEST).signal(), Some(libc::SIGTERM));
            return;
        }
        let asked = on_request().expect("handled");
        assert!(!asked.load(Ordering::Relaxed));
        for signal in REQUESTS {
            raise(signal);
            assert!(on_request().expect("handled").load(Ordering::Relaxed));
            // However long this machine takes, the next is of the same second.
            FIRST_NS.store(now_ns() + 1_000_000_000_000, Ordering::Relaxed);
        }
        // As if that had been longer ago: no waiting, however busy a machine is.
        FIRST_NS.store(1, Ordering::Relaxed);
        raise(libc::SIGTERM);
        std::thread::sleep(Duration::from_secs(60));
        panic!("it lives on");
    }

    #[test]
    fn a_hangup_that_was_ignored_at_the_start_stays_so() {
        const TEST: &str = "a_hangup_that_was_ignored_at_the_start_stays_so";
        if std::env::var(VARIABLE).as_deref() != Ok(TEST) {
            assert!(apart(TEST).success());
            return;
        }
        // SAFETY: as `nohup` does; nothing else in this process uses the signal.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        assert_eq!(requests(), [libc::SIGINT, libc::SIGTERM]);
        outlive_requests().expect("handled");
        let asked = on_request().expect("handled");
        raise(libc::SIGHUP);
        assert!(!asked.load(Ordering::Relaxed));
        // Programs that it starts ignore it too.
        let status = Command::new("sh").args(["-c", "kill -HUP $$"]).status();
        assert!(status.expect("sh runs").success());
        raise(libc::SIGTERM);
        assert!(asked.load(Ordering::Relaxed));
    }

    #[test]
    fn what_is_outlived_ends_programs_as_usual() {
        const TEST: &str = "what_is_outlived_ends_programs_as_usual";
        if std::env::var(VARIABLE).as_deref() != Ok(TEST) {
            assert!(apart(TEST).success());
            return;
        }
        // The test runner may be started by `nohup`, which ignores one.
        for signal in REQUESTS {
            // SAFETY: the default action runs no code of this program.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        outlive_requests().expect("handled");
        survive_file_limit().expect("handled");
        for signal in REQUESTS.into_iter().chain([libc::SIGXFSZ]) {
            raise(signal);
            let line = format!("kill -{signal} $$; sleep 60");
            let status = Command::new("sh").args(["-c", &line]).status();
            assert_eq!(status.expect("sh runs").signal(), Some(signal));
        }
    }
}
