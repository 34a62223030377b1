//! `clock_nanosleep(2)`.

use std::io;

use rustix::io::Errno;
use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute};

const NS_PER_S: u64 = 1_000_000_000;

pub(crate) fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * NS_PER_S + u64::try_from(now.tv_nsec).unwrap_or(0)
}

pub(crate) fn sleep_until(due_ns: u64) -> io::Result<()> {
    let due = Timespec {
        tv_sec: (due_ns / NS_PER_S).cast_signed(),
        tv_nsec: (due_ns % NS_PER_S).cast_signed(),
    };
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &due) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

pub(crate) fn slack_ns() -> Option<u64> {
    rustix::thread::current_timer_slack().ok()
}
