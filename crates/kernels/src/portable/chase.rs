//! See `crate::chase`.

use crate::chase::{CHASE_UNROLL, PARALLEL_CHASE_UNROLL};
use core::hint::black_box;

/// # Safety
/// As `crate::chase` for `turns * CHASE_UNROLL` loads.
pub(crate) unsafe fn chase(start: *const u8, turns: u64) -> *const u8 {
    let mut p = start;
    for _ in 0..turns * CHASE_UNROLL {
        // SAFETY: a pointer that the caller vouches for.
        p = unsafe { p.cast::<*const u8>().read_volatile() };
    }
    p
}

/// # Safety
/// As [`chase`].
pub(crate) unsafe fn chase_on_stack(start: *const u8, turns: u64) -> *const u8 {
    let mut p = start;
    for _ in 0..turns * CHASE_UNROLL {
        // SAFETY: a pointer that the caller vouches for. `black_box` is what
        // puts it on the stack.
        p = black_box(unsafe { p.cast::<*const u8>().read_volatile() });
    }
    p
}

/// # Safety
/// As `crate::chase_parallel` for `turns * PARALLEL_CHASE_UNROLL` loads each.
pub(crate) unsafe fn parallel(starts: &mut [*const u8], turns: u64) {
    for _ in 0..turns * PARALLEL_CHASE_UNROLL {
        for p in &mut *starts {
            // SAFETY: a pointer that the caller vouches for.
            *p = unsafe { p.cast::<*const u8>().read_volatile() };
        }
    }
}
