//! Apple systems have no `clock_nanosleep`.

use std::io;

pub(crate) fn now_ns() -> u64 {
    0
}

pub(crate) fn sleep_until(_due_ns: u64) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems have no clock_nanosleep",
    ))
}

pub(crate) fn slack_ns() -> Option<u64> {
    None
}
