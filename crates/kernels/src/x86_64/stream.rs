//! See `crate::stream`. The scalar loops write their 32 elements out with
//! `.irp`, four rows of eight, because a displacement costs nothing and a pointer
//! increment does.

use core::arch::asm;

/// # Safety
/// `turns * 32` elements, `STEP` apart, can be read at `p`; `turns` is at
/// least 1.
#[inline(always)]
pub(crate) unsafe fn read_stream<const STEP: usize>(p: *const u32, turns: usize) -> u32 {
    let sum: u32;
    // SAFETY: loads the elements that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            "xor {turn:e}, {turn:e}",
            ".irp row,0,8,16,24",
            ".irp k,0,1,2,3,4,5,6,7",
            "add {turn:e}, [{p} + {step} * (\\row + \\k)]",
            ".endr",
            ".endr",
            "add {sum:e}, {turn:e}",
            "add {p}, 32 * {step}",
            "dec {turns}",
            "jnz 2b",
            step = const 4 * STEP,
            turn = out(reg) _,
            sum = inout(reg) 0u32 => sum,
            p = inout(reg) p => _,
            turns = inout(reg) turns => _,
            options(readonly, nostack),
        );
    }
    sum
}

/// # Safety
/// `turns * 32` elements, `STEP` apart, can be written at `p`; `turns` is at
/// least 1.
#[inline(always)]
pub(crate) unsafe fn write_stream<const STEP: usize>(p: *mut u32, turns: usize) {
    // SAFETY: stores to the elements that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".irp row,0,8,16,24",
            ".irp k,0,1,2,3,4,5,6,7",
            "mov dword ptr [{p} + {step} * (\\row + \\k)], 1",
            ".endr",
            ".endr",
            "add {p}, 32 * {step}",
            "dec {turns}",
            "jnz 2b",
            step = const 4 * STEP,
            p = inout(reg) p => _,
            turns = inout(reg) turns => _,
            options(nostack),
        );
    }
}

/// # Safety
/// `turns * 32` elements, `STEP` apart, can be read and written at `p`;
/// `turns` is at least 1.
#[inline(always)]
pub(crate) unsafe fn read_write<const STEP: usize>(p: *mut u32, turns: usize) {
    // SAFETY: changes the elements that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".irp row,0,8,16,24",
            ".irp k,0,1,2,3,4,5,6,7",
            "shl dword ptr [{p} + {step} * (\\row + \\k)], 1",
            ".endr",
            ".endr",
            "add {p}, 32 * {step}",
            "dec {turns}",
            "jnz 2b",
            step = const 4 * STEP,
            p = inout(reg) p => _,
            turns = inout(reg) turns => _,
            options(nostack),
        );
    }
}

/// # Safety
/// `turns * 256` bytes can be read at `p`, which is aligned to 16; `turns` is
/// at least 1.
#[inline(always)]
pub(crate) unsafe fn read_vector(p: *const u8, turns: usize) -> u64 {
    let folded: u64;
    // SAFETY: loads the bytes that the caller vouches for.
    unsafe {
        asm!(
            // Zeroed here, since an input would have to come from memory.
            ".irp k,0,1,2,3,4,5,6,7",
            "pxor xmm\\k, xmm\\k",
            ".endr",
            ".p2align 6",
            "2:",
            ".irp k,0,1,2,3,4,5,6,7",
            "pxor xmm\\k, [{p} + 16 * \\k]",
            ".endr",
            ".irp k,0,1,2,3,4,5,6,7",
            "pxor xmm\\k, [{p} + 128 + 16 * \\k]",
            ".endr",
            "add {p}, 256",
            "dec {turns}",
            "jnz 2b",
            ".irp k,1,2,3,4,5,6,7",
            "pxor xmm0, xmm\\k",
            ".endr",
            "pshufd xmm1, xmm0, 0xEE", // the upper half
            "pxor xmm0, xmm1",
            "movq {folded}, xmm0",
            folded = lateout(reg) folded,
            p = inout(reg) p => _,
            turns = inout(reg) turns => _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            options(readonly, nostack),
        );
    }
    folded
}

/// # Safety
/// As `crate::read_stride` for `turns * 16` loads; `turns` is at least 1.
#[inline(always)]
pub(crate) unsafe fn read_stride(p: *const u8, turns: usize, stride_bytes: usize) -> u64 {
    let (a, b, c, d): (u64, u64, u64, u64);
    // SAFETY: loads the words that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept 4",
            "add {a}, [{p}]",
            "add {b}, [{p} + {stride}]",
            "add {c}, [{p} + 2 * {stride}]",
            "add {d}, [{p} + {three_strides}]",
            "lea {p}, [{p} + 4 * {stride}]",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            a = inout(reg) 0u64 => a,
            b = inout(reg) 0u64 => b,
            c = inout(reg) 0u64 => c,
            d = inout(reg) 0u64 => d,
            p = inout(reg) p => _,
            stride = in(reg) stride_bytes,
            three_strides = in(reg) stride_bytes.wrapping_mul(3),
            turns = inout(reg) turns => _,
            options(readonly, nostack),
        );
    }
    a.wrapping_add(b).wrapping_add(c).wrapping_add(d)
}

/// # Safety
/// `bytes` bytes, at least 1, can be read at `p`.
#[inline(always)]
pub(crate) unsafe fn xor_bytes(p: *const u8, bytes: usize) -> u8 {
    let folded: u8;
    // SAFETY: loads the bytes that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            "xor {folded}, [{p}]",
            "inc {p}",
            "cmp {p}, {end}",
            "jne 2b",
            folded = inout(reg_byte) 0u8 => folded,
            p = inout(reg) p => _,
            end = in(reg) p.wrapping_add(bytes),
            options(readonly, nostack),
        );
    }
    folded
}

/// XORs 64 bytes a turn down to one word.
///
/// # Safety
/// `turns * 64` bytes can be read at `p`, of any alignment; `turns` is at
/// least 1.
#[inline(always)]
pub(crate) unsafe fn xor_vector(p: *const u8, turns: usize) -> u64 {
    let folded: u64;
    // SAFETY: loads the bytes that the caller vouches for.
    unsafe {
        asm!(
            ".irp k,0,1,2,3",
            "pxor xmm\\k, xmm\\k",
            ".endr",
            ".p2align 6",
            "2:",
            ".irp k,0,1,2,3",
            "movdqu xmm4, [{p} + 16 * \\k]",
            "pxor xmm\\k, xmm4",
            ".endr",
            "add {p}, 64",
            "dec {turns}",
            "jnz 2b",
            ".irp k,1,2,3",
            "pxor xmm0, xmm\\k",
            ".endr",
            "pshufd xmm1, xmm0, 0xEE", // the upper half
            "pxor xmm0, xmm1",
            "movq {folded}, xmm0",
            folded = lateout(reg) folded,
            p = inout(reg) p => _,
            turns = inout(reg) turns => _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            options(readonly, nostack),
        );
    }
    folded
}
