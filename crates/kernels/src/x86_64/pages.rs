//! See `crate::pages`.

use core::arch::asm;

/// # Safety
/// As `crate::touch_pages`, and `pages` is at least 1.
#[inline(always)]
pub(crate) unsafe fn touch(p: *mut u8, pages: usize, page_bytes: usize) {
    // SAFETY: stores to the bytes that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            "mov byte ptr [{p}], 1",
            "add {p}, {page_bytes}",
            "dec {pages}",
            "jnz 2b",
            p = inout(reg) p => _,
            page_bytes = in(reg) page_bytes,
            pages = inout(reg) pages => _,
            options(nostack),
        );
    }
}

/// # Safety
/// As `crate::read_pages`, and `pages` is at least 1.
#[inline(always)]
pub(crate) unsafe fn read_pages(p: *const u8, pages: usize, page_bytes: usize) -> u64 {
    let sum: u64;
    // SAFETY: loads the bytes that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            "movzx {byte:e}, byte ptr [{p}]",
            "add {sum}, {byte}",
            "add {p}, {page_bytes}",
            "dec {pages}",
            "jnz 2b",
            byte = out(reg) _,
            sum = inout(reg) 0u64 => sum,
            p = inout(reg) p => _,
            page_bytes = in(reg) page_bytes,
            pages = inout(reg) pages => _,
            options(readonly, nostack),
        );
    }
    sum
}
