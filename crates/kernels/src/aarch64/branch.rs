//! See `crate::branch`.

use core::arch::asm;

/// # Safety
/// As `crate::branches`, and `count` is at least 1.
#[inline(always)]
pub(crate) unsafe fn branches(bytes: *const u8, count: usize) -> u64 {
    let odd: u64;
    // SAFETY: loads the `count` bytes that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            "ldrb {byte:w}, [{p}], #1",
            "tbz {byte:w}, #0, 3f",
            "add {odd}, {odd}, #1",
            "3:",
            "cmp {p}, {end}",
            "b.ne 2b",
            byte = out(reg) _,
            p = inout(reg) bytes => _,
            end = in(reg) bytes.wrapping_add(count),
            odd = inout(reg) 0u64 => odd,
            options(readonly, nostack),
        );
    }
    odd
}
