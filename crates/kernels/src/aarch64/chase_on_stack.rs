//! See `crate::chase`.

use core::arch::asm;

/// # Safety
/// As `crate::chase` for `turns * CHASE_UNROLL` loads; `turns` is at least 1.
#[inline(always)]
pub(crate) unsafe fn chase_on_stack(start: *const u8, turns: u64) -> *const u8 {
    let reached;
    // SAFETY: loads only through pointers that the caller vouches for. Without
    // `nostack` the compiler keeps nothing below the stack pointer, which is
    // moved by a multiple of its alignment and put back.
    unsafe {
        asm!(
            "sub sp, sp, #16",
            ".p2align 6",
            "2:",
            ".rept 64",
            "ldr {p}, [{p}]",
            "str {p}, [sp, #8]",
            "ldr {p}, [sp, #8]",
            ".endr",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            "add sp, sp, #16",
            p = inout(reg) start => reached,
            turns = inout(reg) turns => _,
        );
    }
    reached
}
