//! The branch whose misprediction is measured.

use crate::arch;

/// Branches on the lowest bit of each of `count` bytes and returns how many
/// were odd.
///
/// One operation is one byte: a load, a conditional branch over one
/// instruction, the loop's counter. The code is the same whatever the bytes
/// say, so the time over random bits minus the time over constant ones is the
/// cost of the mispredictions. The branch is written as one: a compiler would
/// make it a conditional move.
///
/// # Safety
/// `bytes` must be valid for reading `count` bytes.
#[inline(never)]
pub unsafe fn branches(bytes: *const u8, count: usize) -> u64 {
    if count == 0 {
        return 0;
    }
    // SAFETY: the caller's promise, and at least one byte.
    unsafe { arch::branch::branches(bytes, count) }
}
