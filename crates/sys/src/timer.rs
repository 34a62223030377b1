//! Sleeping until an absolute time on CLOCK_MONOTONIC, as cyclictest does.

use std::io;

/// CLOCK_MONOTONIC, ns.
pub fn now_ns() -> u64 {
    crate::clock::timespec_ns(rustix::time::clock_gettime(rustix::time::ClockId::Monotonic))
        .unwrap_or(0)
}

/// Sleeps until CLOCK_MONOTONIC is at `due_ns` or later
/// (`clock_nanosleep(2)` with TIMER_ABSTIME).
///
/// # Errors
/// What the call says; a signal is no error. `Unsupported` on Apple systems.
#[cfg_attr(target_vendor = "apple", allow(unused_variables))]
pub fn sleep_until(due_ns: u64) -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return Err(crate::platform::unsupported("clock_nanosleep"));
    #[cfg(not(target_vendor = "apple"))]
    {
        use rustix::thread::{ClockId, clock_nanosleep_absolute};
        let due = rustix::thread::Timespec {
            tv_sec: (due_ns / 1_000_000_000).cast_signed(),
            tv_nsec: (due_ns % 1_000_000_000).cast_signed(),
        };
        Ok(rustix::io::retry_on_intr(|| clock_nanosleep_absolute(ClockId::Monotonic, &due))?)
    }
}

/// Timer slack of the calling thread, ns (PR_GET_TIMERSLACK): the kernel may
/// delay its timers by that to let several expire at once. `None` on Apple
/// systems.
pub fn slack_ns() -> Option<u64> {
    #[cfg(target_vendor = "apple")]
    return None;
    #[cfg(not(target_vendor = "apple"))]
    rustix::thread::current_timer_slack().ok()
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
