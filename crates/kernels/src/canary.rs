//! The canaries: two short loops whose time says in which state the machine
//! is. `latlas-meter` runs them at both ends of a sample.

use crate::arch;

/// Dependent additions in one turn of [`dependent_adds`].
pub const ADDS_PER_TURN: u32 = 32;

/// Dependent multiplications in one turn of [`dependent_multiplies`].
pub const MULTIPLIES_PER_TURN: u32 = 32;

/// Takes `turns` branches: a loop with nothing in it but its own counter.
///
/// Bound by the front end, which a neighbour on the same core shares; with
/// [`dependent_adds`], which hardly changes, it separates a quiet core from a
/// contended one. One operation is one taken branch. Zero turns do nothing.
#[inline(never)]
pub fn taken_branches(turns: u64) {
    if turns > 0 {
        arch::canary::taken_branches(turns);
    }
}

/// Runs `turns` times [`ADDS_PER_TURN`] additions, each waiting for the last.
///
/// One operation is one addition: one cycle on every core that latlas knows,
/// so the time gives the clock frequency. The addend is in a register because
/// recent Intel cores fold the addition of a small constant away while
/// renaming. The loop's own counter runs in parallel to the chain and costs nothing.
/// Zero turns do nothing.
#[inline(never)]
pub fn dependent_adds(turns: u64) {
    if turns > 0 {
        arch::canary::dependent_adds(turns);
    }
}

/// Runs `turns` times [`MULTIPLIES_PER_TURN`] 64-bit multiplications, each
/// waiting for the last.
///
/// One operation is one multiplication: a whole number of cycles. Its time over
/// that of a dependent addition is that number as long as nothing slows the
/// additions; a neighbour on the same core does, by some 3 %. Zero turns do
/// nothing.
#[inline(never)]
pub fn dependent_multiplies(turns: u64) {
    if turns > 0 {
        arch::canary::dependent_multiplies(turns);
    }
}
