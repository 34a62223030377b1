//! See `crate::branch`.

use core::hint::black_box;

/// # Safety
/// As `crate::branches`.
pub(crate) unsafe fn branches(bytes: *const u8, count: usize) -> u64 {
    let mut odd = 0;
    for i in 0..count {
        // SAFETY: one of the bytes that the caller vouches for.
        if unsafe { bytes.add(i).read() } & 1 == 1 {
            odd = black_box(odd + 1);
        }
    }
    odd
}
