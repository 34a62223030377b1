//! Sleeping until a point in time, as cyclictest does it: an absolute timer
//! of CLOCK_MONOTONIC.

use std::io;

use crate::platform;

/// CLOCK_MONOTONIC, ns.
pub fn now_ns() -> u64 {
    platform::timer::now_ns()
}

/// Sleeps until CLOCK_MONOTONIC is at `due_ns` or later
/// (`clock_nanosleep(2)` with TIMER_ABSTIME); returns at once if it is already.
///
/// # Errors
/// What the call says; a signal is no error. `Unsupported` where there are no
/// such timers.
pub fn sleep_until(due_ns: u64) -> io::Result<()> {
    platform::timer::sleep_until(due_ns)
}

/// By how much the kernel may delay the calling thread's timers to expire
/// several at once, ns (PR_GET_TIMERSLACK); `None` where it does not say.
pub fn slack_ns() -> Option<u64> {
    platform::timer::slack_ns()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_when_it_is_due_and_not_before() {
        for ahead in [0, 1_000_000] {
            let due = now_ns() + ahead;
            sleep_until(due).expect("a timer");
            assert!(now_ns() >= due);
        }
        sleep_until(1).expect("long past");
        assert!(slack_ns().is_some());
    }
}
