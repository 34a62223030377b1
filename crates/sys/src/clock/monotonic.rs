//! The kernel's clocks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longer than anything runs.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// A moment so long after another; ten years after it where the clock does not go so far.
pub fn later(than: Instant, by: Duration) -> Instant {
    than.checked_add(by).unwrap_or_else(|| than + FOREVER)
}

/// CLOCK_MONOTONIC_RAW in ns: since some fixed point, at the rate of the
/// hardware, never stepped nor slewed by time synchronisation
/// (clock_gettime(2)). About 26 ns a call where the vDSO serves it.
#[inline(always)]
pub fn monotonic_raw_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one `timespec` to a valid pointer. It can't
    // fail: the clock exists since Linux 2.6.28 and macOS 10.12.
    unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time);
    }
    // Both fields are never negative for this clock.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A time of the kernel's in ns; `None` below 0.
pub(crate) fn timespec_ns(time: rustix::time::Timespec) -> Option<u64> {
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
}

/// CLOCK_BOOTTIME in ns: time since the system started, with that in which it
/// slept. Of Apple systems the monotonic clock.
pub fn boot_ns() -> u64 {
    #[cfg(not(target_vendor = "apple"))]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(target_vendor = "apple")]
    let clock = rustix::time::ClockId::Monotonic;
    timespec_ns(rustix::time::clock_gettime(clock)).unwrap_or(0)
}

/// Wall clock time in ns since 1970 UTC; 0 for a clock set before that.
pub fn realtime_unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Wall clock time in ms since 1970 UTC; 0 for a clock set before that.
pub fn realtime_unix_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_no_clock_reaches_is_years_away() {
        let now = Instant::now();
        let hour = Duration::from_secs(3600);
        assert_eq!(later(now, hour), now + hour);
        assert_eq!(later(now, Duration::MAX), now + FOREVER);
    }
}
