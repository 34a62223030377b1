//! See `crate::chase`.

use core::arch::asm;

/// The three moves of an unoptimised build, on a slot addressed through rbp.
/// The frame is 256 bytes on purpose: on Zen 3 a slot addressed through rsp,
/// or through rbp in a frame of 16 bytes, is forwarded at no cost (1.85 ns a
/// load, as without it), in this frame at full cost (4.6). Why is inferred
/// from those trials only; the full cost is what LMbench's unoptimised walk
/// shows there.
///
/// # Safety
/// As `crate::chase` for `turns * CHASE_UNROLL` loads; `turns` is at least 1.
#[inline(always)]
pub(crate) unsafe fn chase_on_stack(start: *const u8, turns: u64) -> *const u8 {
    let reached;
    // SAFETY: loads only through pointers that the caller vouches for. Without
    // `nostack` the compiler keeps nothing below the stack pointer; rbp and rsp
    // are put back. The operands have registers of their own by name, so that
    // neither is given rbp.
    unsafe {
        asm!(
            "push rbp",
            "mov rbp, rsp",
            "sub rsp, 256",
            "mov [rbp - 8], rax",
            ".p2align 6",
            "2:",
            ".rept 64",
            "mov rax, [rbp - 8]",
            "mov rax, [rax]",
            "mov [rbp - 8], rax",
            ".endr",
            "dec rcx",
            "jnz 2b",
            "mov rsp, rbp",
            "pop rbp",
            inout("rax") start => reached,
            inout("rcx") turns => _,
        );
    }
    reached
}
