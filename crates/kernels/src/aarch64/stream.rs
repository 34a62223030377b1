//! See `crate::stream`. The scalar loops write their 32 elements out with
//! `.irp`, four rows of eight, because an offset costs nothing and a pointer
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
            "mov {turn:w}, #0",
            ".irp row,0,8,16,24",
            ".irp k,0,1,2,3,4,5,6,7",
            "ldr {element:w}, [{p}, #{step} * (\\row + \\k)]",
            "add {turn:w}, {turn:w}, {element:w}",
            ".endr",
            ".endr",
            "add {sum:w}, {sum:w}, {turn:w}",
            "add {p}, {p}, #32 * {step}",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            step = const 4 * STEP,
            turn = out(reg) _,
            element = out(reg) _,
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
            "str {one:w}, [{p}, #{step} * (\\row + \\k)]",
            ".endr",
            ".endr",
            "add {p}, {p}, #32 * {step}",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            step = const 4 * STEP,
            one = in(reg) 1u32,
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
            "ldr {element:w}, [{p}, #{step} * (\\row + \\k)]",
            "lsl {element:w}, {element:w}, #1",
            "str {element:w}, [{p}, #{step} * (\\row + \\k)]",
            ".endr",
            ".endr",
            "add {p}, {p}, #32 * {step}",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            element = out(reg) _,
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
    let (low, high): (u64, u64);
    // SAFETY: loads the bytes that the caller vouches for.
    unsafe {
        asm!(
            "movi {a}.2d, #0",
            "movi {b}.2d, #0",
            "movi {c}.2d, #0",
            "movi {d}.2d, #0",
            "movi {e}.2d, #0",
            "movi {f}.2d, #0",
            "movi {g}.2d, #0",
            "movi {h}.2d, #0",
            ".p2align 6",
            "2:",
            ".irp half,0,128",
            "ldp {x:q}, {y:q}, [{p}, #\\half + 0]",
            "eor {a}.16b, {a}.16b, {x}.16b",
            "eor {b}.16b, {b}.16b, {y}.16b",
            "ldp {x:q}, {y:q}, [{p}, #\\half + 32]",
            "eor {c}.16b, {c}.16b, {x}.16b",
            "eor {d}.16b, {d}.16b, {y}.16b",
            "ldp {x:q}, {y:q}, [{p}, #\\half + 64]",
            "eor {e}.16b, {e}.16b, {x}.16b",
            "eor {f}.16b, {f}.16b, {y}.16b",
            "ldp {x:q}, {y:q}, [{p}, #\\half + 96]",
            "eor {g}.16b, {g}.16b, {x}.16b",
            "eor {h}.16b, {h}.16b, {y}.16b",
            ".endr",
            "add {p}, {p}, #256",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            "eor {a}.16b, {a}.16b, {b}.16b",
            "eor {c}.16b, {c}.16b, {d}.16b",
            "eor {e}.16b, {e}.16b, {f}.16b",
            "eor {g}.16b, {g}.16b, {h}.16b",
            "eor {a}.16b, {a}.16b, {c}.16b",
            "eor {e}.16b, {e}.16b, {g}.16b",
            "eor {a}.16b, {a}.16b, {e}.16b",
            "mov {low}, {a}.d[0]",
            "mov {high}, {a}.d[1]",
            a = out(vreg) _, b = out(vreg) _, c = out(vreg) _, d = out(vreg) _,
            e = out(vreg) _, f = out(vreg) _, g = out(vreg) _, h = out(vreg) _,
            x = out(vreg) _, y = out(vreg) _,
            low = lateout(reg) low,
            high = lateout(reg) high,
            p = inout(reg) p => _,
            turns = inout(reg) turns => _,
            options(readonly, nostack),
        );
    }
    low ^ high
}

/// # Safety
/// As `crate::read_stride` for `turns * 16` loads; `turns` is at least 1.
#[inline(always)]
pub(crate) unsafe fn read_stride(p: *const u8, turns: usize, stride_bytes: usize) -> u64 {
    let (a, b, c, d): (u64, u64, u64, u64);
    // SAFETY: loads the words that the caller vouches for. The last turn steps
    // past the words it was asked for, but loads nothing there.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept 4",
            "ldr {word}, [{p}]",
            "add {a}, {a}, {word}",
            "ldr {word}, [{p}, {stride}]",
            "add {b}, {b}, {word}",
            "ldr {word}, [{p}, {two_strides}]",
            "add {c}, {c}, {word}",
            "ldr {word}, [{p}, {three_strides}]",
            "add {d}, {d}, {word}",
            "add {p}, {p}, {stride}, lsl #2",
            ".endr",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            word = out(reg) _,
            a = inout(reg) 0u64 => a,
            b = inout(reg) 0u64 => b,
            c = inout(reg) 0u64 => c,
            d = inout(reg) 0u64 => d,
            p = inout(reg) p => _,
            stride = in(reg) stride_bytes,
            two_strides = in(reg) stride_bytes.wrapping_mul(2),
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
    let folded: u32;
    // SAFETY: loads the bytes that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            "ldrb {byte:w}, [{p}], #1", // the increment goes with the load
            "eor {folded:w}, {folded:w}, {byte:w}",
            "cmp {p}, {end}",
            "b.ne 2b",
            byte = out(reg) _,
            folded = inout(reg) 0u32 => folded,
            p = inout(reg) p => _,
            end = in(reg) p.wrapping_add(bytes),
            options(readonly, nostack),
        );
    }
    folded as u8
}

/// XORs 64 bytes a turn down to one word.
///
/// # Safety
/// `turns * 64` bytes can be read at `p`, of any alignment; `turns` is at
/// least 1.
#[inline(always)]
pub(crate) unsafe fn xor_vector(p: *const u8, turns: usize) -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: loads the bytes that the caller vouches for.
    unsafe {
        asm!(
            "movi {a}.2d, #0",
            "movi {b}.2d, #0",
            "movi {c}.2d, #0",
            "movi {d}.2d, #0",
            ".p2align 6",
            "2:",
            "ldp {x:q}, {y:q}, [{p}]",
            "eor {a}.16b, {a}.16b, {x}.16b",
            "eor {b}.16b, {b}.16b, {y}.16b",
            "ldp {x:q}, {y:q}, [{p}, #32]",
            "eor {c}.16b, {c}.16b, {x}.16b",
            "eor {d}.16b, {d}.16b, {y}.16b",
            "add {p}, {p}, #64",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            "eor {a}.16b, {a}.16b, {b}.16b",
            "eor {c}.16b, {c}.16b, {d}.16b",
            "eor {a}.16b, {a}.16b, {c}.16b",
            "mov {low}, {a}.d[0]",
            "mov {high}, {a}.d[1]",
            a = out(vreg) _, b = out(vreg) _, c = out(vreg) _, d = out(vreg) _,
            x = out(vreg) _, y = out(vreg) _,
            low = lateout(reg) low,
            high = lateout(reg) high,
            p = inout(reg) p => _,
            turns = inout(reg) turns => _,
            options(readonly, nostack),
        );
    }
    low ^ high
}
