//! The clock of a core, from within a job.

use kernels::{ADDS_PER_TURN, dependent_adds};

const TURNS: u64 = 64;

/// Additions in a row that [`additions_ns`] times, a cycle each: less than 0.3 % of a block.
pub const ADDITIONS: u64 = 2 * TURNS * ADDS_PER_TURN as u64;

/// What they take on this CPU now, in ns: one loop less a shorter one, so that reading the clock
/// doesn't count. 0 if the shorter one was interrupted for longer.
pub(crate) fn additions_ns() -> u32 {
    let time = |turns| {
        let began_ns = sys::monotonic_raw_ns();
        dependent_adds(turns);
        sys::monotonic_raw_ns() - began_ns
    };
    let ns = time(3 * TURNS).saturating_sub(time(TURNS));
    u32::try_from(ns).unwrap_or(0)
}

/// The clock at which they take so long; `None` if that is not known.
pub(crate) fn hz(additions_ns: u32) -> Option<u64> {
    (ADDITIONS * 1_000_000_000).checked_div(u64::from(additions_ns))
}
