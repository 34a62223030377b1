//! See `crate::stream`.

use crate::stream::{STREAM_UNROLL, STRIDE_UNROLL, VECTOR_UNROLL_BYTES};
use core::hint::black_box;

/// # Safety
/// `turns * 32` elements, `STEP` apart, can be read at `p`.
pub(crate) unsafe fn read_stream<const STEP: usize>(p: *const u32, turns: usize) -> u32 {
    (0..turns * STREAM_UNROLL)
        // SAFETY: one of the elements that the caller vouches for.
        .map(|i| unsafe { p.add(i * STEP).read_volatile() })
        .fold(0, u32::wrapping_add)
}

/// # Safety
/// `turns * 32` elements, `STEP` apart, can be written at `p`.
pub(crate) unsafe fn write_stream<const STEP: usize>(p: *mut u32, turns: usize) {
    for i in 0..turns * STREAM_UNROLL {
        // SAFETY: one of the elements that the caller vouches for.
        unsafe { p.add(i * STEP).write_volatile(1) }
    }
}

/// # Safety
/// `turns * 32` elements, `STEP` apart, can be read and written at `p`.
pub(crate) unsafe fn read_write<const STEP: usize>(p: *mut u32, turns: usize) {
    for i in 0..turns * STREAM_UNROLL {
        // SAFETY: one of the elements that the caller vouches for.
        unsafe {
            let element = p.add(i * STEP);
            element.write_volatile(element.read_volatile().wrapping_mul(2));
        }
    }
}

/// # Safety
/// `turns * 256` bytes can be read at `p`, which is aligned to 16.
pub(crate) unsafe fn read_vector(p: *const u8, turns: usize) -> u64 {
    // SAFETY: as many words as the caller's bytes.
    unsafe { fold(p, turns * VECTOR_UNROLL_BYTES / 8) }
}

/// # Safety
/// As `crate::read_stride` for `turns * 16` loads.
pub(crate) unsafe fn read_stride(p: *const u8, turns: usize, stride_bytes: usize) -> u64 {
    (0..turns * STRIDE_UNROLL)
        // SAFETY: one of the words that the caller vouches for.
        .map(|k| unsafe { p.add(k * stride_bytes).cast::<u64>().read_unaligned() })
        .fold(0, u64::wrapping_add)
}

/// # Safety
/// `bytes` bytes can be read at `p`.
pub(crate) unsafe fn xor_bytes(p: *const u8, bytes: usize) -> u8 {
    // `black_box` keeps the optimiser from vectorising it.
    (0..bytes).fold(0, |folded, i| {
        // SAFETY: one of the bytes that the caller vouches for.
        black_box(folded ^ unsafe { p.add(i).read() })
    })
}

/// # Safety
/// `turns * 64` bytes can be read at `p`, of any alignment.
pub(crate) unsafe fn xor_vector(p: *const u8, turns: usize) -> u64 {
    // SAFETY: eight words a turn.
    unsafe { fold(p, turns * 8) }
}

/// XORs so many words of 8 bytes, of any alignment.
///
/// # Safety
/// `words * 8` bytes can be read at `p`.
unsafe fn fold(p: *const u8, words: usize) -> u64 {
    (0..words).fold(0, |folded, i| {
        // SAFETY: one of the words that the caller vouches for.
        folded ^ unsafe { p.cast::<u64>().add(i).read_unaligned() }
    })
}
