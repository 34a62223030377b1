//! Pointer chases: loads that each wait for the one before.

use crate::arch;

/// Loads in one turn of [`chase`] and [`chase_on_stack`]: enough to hide the
/// loop's own counter, as LMbench's hundred.
pub const CHASE_UNROLL: u64 = 64;

/// Rounds of loads in one turn of [`chase_parallel`]. Fewer than
/// [`CHASE_UNROLL`], because a round is up to twelve loads and the loop should
/// stay in the smallest cache of decoded instructions.
pub const PARALLEL_CHASE_UNROLL: u64 = 16;

/// How many chases [`chase_parallel`] can run at once. Twelve is what fits the
/// registers of x86-64 with nothing on the stack; AArch64 has more, but the
/// rows should compare.
pub static PARALLEL_CHASES: &[usize] = &[1, 2, 3, 4, 5, 6, 8, 10, 12];

/// Follows `p = *p` from `start` and returns where it got to.
///
/// One operation is one load, which can't begin before the last has ended.
/// `loads` is rounded up to a multiple of [`CHASE_UNROLL`]; zero loads return
/// `start`. Carry on from the returned pointer: starting anew at the head of a
/// large cycle finds its first lines in the cache.
///
/// # Safety
/// `start`, and every pointer that the walk loads, must be valid for reading a
/// pointer and aligned for it, for the rounded number of loads.
#[inline(never)]
pub unsafe fn chase(start: *const u8, loads: u64) -> *const u8 {
    if loads == 0 {
        return start;
    }
    // SAFETY: the caller's promise, and at least one turn.
    unsafe { arch::chase::chase(start, loads.div_ceil(CHASE_UNROLL)) }
}

/// [`chase`] as an unoptimised build does it: around each load the pointer is
/// loaded from its slot on the stack and stored back there.
///
/// One operation is one load of the chase, with the reload and the store that
/// go with it. It explains the L1 latencies published from debug builds.
///
/// # Safety
/// As [`chase`].
#[inline(never)]
pub unsafe fn chase_on_stack(start: *const u8, loads: u64) -> *const u8 {
    if loads == 0 {
        return start;
    }
    // SAFETY: the caller's promise, and at least one turn.
    unsafe { arch::chase::chase_on_stack(start, loads.div_ceil(CHASE_UNROLL)) }
}

/// Runs one chase from each of `starts` at the same time, each as [`chase`]
/// does, and leaves in `starts` where each of them got to.
///
/// One operation is one load; there are `starts.len() * loads_each` of them.
/// The chases don't wait for each other, so the machine overlaps as many as it
/// can. `loads_each` is rounded up to a multiple of [`PARALLEL_CHASE_UNROLL`].
///
/// # Panics
/// If the number of chases is not one of [`PARALLEL_CHASES`].
///
/// # Safety
/// Every one of `starts` must fulfil what [`chase`] asks of its `start`.
pub unsafe fn chase_parallel(starts: &mut [*const u8], loads_each: u64) {
    assert!(
        PARALLEL_CHASES.contains(&starts.len()),
        "the number of parallel chases must be one of PARALLEL_CHASES"
    );
    if loads_each > 0 {
        // SAFETY: the caller's promise, a number of chases that there is a
        // loop for, and at least one turn.
        unsafe { arch::chase::parallel(starts, loads_each.div_ceil(PARALLEL_CHASE_UNROLL)) }
    }
}
