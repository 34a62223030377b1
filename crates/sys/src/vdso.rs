//! A call into the code that the kernel maps into every process (the vDSO):
//! an answer of the kernel's without entering it.

use std::io;

use crate::platform;

/// Whether the kernel gave this process such code, and its coarse clock can be
/// read.
///
/// # Errors
/// `Unsupported` where there is none; what `clock_gettime(2)` says.
pub fn check() -> io::Result<()> {
    platform::vdso::check()
}

/// Reads CLOCK_MONOTONIC_COARSE through the C library: the time of the last
/// scheduler tick, for which the kernel's code reads memory and no counter.
/// Gives the nanoseconds within its second; where [`check`] fails, anything.
#[inline]
pub fn coarse_clock() -> i64 {
    platform::vdso::coarse_clock()
}
