//! See `crate::canary`. `turns` is at least 1 in all.

use core::arch::asm;

#[inline(always)]
pub(crate) fn taken_branches(turns: u64) {
    // SAFETY: counts a register down.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            "dec {turns}",
            "jnz 2b",
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
}

#[inline(always)]
pub(crate) fn dependent_adds(turns: u64) {
    // SAFETY: adds in registers.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept 32",
            "add {sum}, {addend}",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            turns = inout(reg) turns => _,
            sum = inout(reg) 0u64 => _,
            addend = in(reg) crate::operands::DENSE_64,
            options(nomem, nostack),
        );
    }
}

#[inline(always)]
pub(crate) fn dependent_multiplies(turns: u64) {
    // SAFETY: multiplies in registers.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept 32",
            "imul {product}, {factor}",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            turns = inout(reg) turns => _,
            product = inout(reg) 3u64 => _,
            factor = in(reg) crate::operands::DENSE_64,
            options(nomem, nostack),
        );
    }
}
