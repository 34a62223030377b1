//! Loops that go through memory in order: what a byte costs when nothing has
//! to wait for the byte before.
//!
//! The scalar loops work on elements of 4 bytes, [`STREAM_UNROLL`] a turn, as
//! LMbench's `bw_mem` and Kurkin's tests do. *Every 4th* touches one element
//! out of four, 16 bytes apart; its bandwidth counts the touched bytes only.

use crate::arch;

/// Elements in one turn of the scalar loops, LMbench's number. Counts of
/// elements must be a multiple of it.
pub const STREAM_UNROLL: usize = 32;
/// Bytes in one turn of [`read_vector`], whose length must be a multiple.
pub const VECTOR_UNROLL_BYTES: usize = 256;
/// Loads in one turn of [`read_stride`], whose count must be a multiple.
pub const STRIDE_UNROLL: usize = 16;

/// Panics unless `count` is a multiple of `unroll`: a remainder that is left
/// out silently would be a wrong result. Outside of every loop.
fn check_multiple(count: usize, unroll: usize) {
    assert!(
        count.is_multiple_of(unroll),
        "the count must be a multiple of what one turn of the loop does"
    );
}

/// Sums `elements` elements in order: `sum += p[i]`, wrapping.
///
/// One operation is one element. Each turn sums its 32 elements from 0 and
/// then adds that to the total (as the one long expression of LMbench's `rd`
/// compiles), so turns overlap and the loads set the pace, not the adds.
///
/// # Panics
/// If `elements` is not a multiple of [`STREAM_UNROLL`].
///
/// # Safety
/// `p` must be valid for reading `elements` elements and aligned to 4 bytes.
#[inline(never)]
pub unsafe fn read_sequential(p: *const u32, elements: usize) -> u32 {
    check_multiple(elements, STREAM_UNROLL);
    if elements == 0 {
        return 0;
    }
    // SAFETY: the caller's promise, in whole turns, at least one.
    unsafe { arch::stream::read_stream::<1>(p, elements / STREAM_UNROLL) }
}

/// [`read_sequential`] over every 4th element: `elements_touched` of them.
///
/// # Panics
/// If `elements_touched` is not a multiple of [`STREAM_UNROLL`].
///
/// # Safety
/// `p` must be valid for reading `4 * elements_touched` elements and aligned
/// to 4 bytes.
#[inline(never)]
pub unsafe fn read_every_4th(p: *const u32, elements_touched: usize) -> u32 {
    check_multiple(elements_touched, STREAM_UNROLL);
    if elements_touched == 0 {
        return 0;
    }
    // SAFETY: the caller's promise, in whole turns, at least one.
    unsafe { arch::stream::read_stream::<4>(p, elements_touched / STREAM_UNROLL) }
}

/// Stores 1 into `elements_touched` elements in order: `p[i] = 1`.
///
/// One operation is one element, by one 4-byte store.
///
/// # Panics
/// If `elements_touched` is not a multiple of [`STREAM_UNROLL`].
///
/// # Safety
/// `p` must be valid for writing `elements_touched` elements and aligned to 4
/// bytes.
#[inline(never)]
pub unsafe fn write_sequential(p: *mut u32, elements_touched: usize) {
    check_multiple(elements_touched, STREAM_UNROLL);
    if elements_touched > 0 {
        // SAFETY: the caller's promise, in whole turns, at least one.
        unsafe { arch::stream::write_stream::<1>(p, elements_touched / STREAM_UNROLL) }
    }
}

/// [`write_sequential`] over every 4th element: `elements_touched` of them.
///
/// # Panics
/// If `elements_touched` is not a multiple of [`STREAM_UNROLL`].
///
/// # Safety
/// `p` must be valid for writing `4 * elements_touched` elements and aligned
/// to 4 bytes.
#[inline(never)]
pub unsafe fn write_every_4th(p: *mut u32, elements_touched: usize) {
    check_multiple(elements_touched, STREAM_UNROLL);
    if elements_touched > 0 {
        // SAFETY: the caller's promise, in whole turns, at least one.
        unsafe { arch::stream::write_stream::<4>(p, elements_touched / STREAM_UNROLL) }
    }
}

/// Doubles `elements_touched` elements in order: `p[i] = p[i] * 2`, wrapping.
///
/// One operation is one element: a load, a shift and a store (on x86-64 the
/// one instruction that compilers make of it).
///
/// # Panics
/// If `elements_touched` is not a multiple of [`STREAM_UNROLL`].
///
/// # Safety
/// `p` must be valid for reading and writing `elements_touched` elements and
/// aligned to 4 bytes.
#[inline(never)]
pub unsafe fn read_write_sequential(p: *mut u32, elements_touched: usize) {
    check_multiple(elements_touched, STREAM_UNROLL);
    if elements_touched > 0 {
        // SAFETY: the caller's promise, in whole turns, at least one.
        unsafe { arch::stream::read_write::<1>(p, elements_touched / STREAM_UNROLL) }
    }
}

/// [`read_write_sequential`] over every 4th element: `elements_touched` of
/// them.
///
/// # Panics
/// If `elements_touched` is not a multiple of [`STREAM_UNROLL`].
///
/// # Safety
/// `p` must be valid for reading and writing `4 * elements_touched` elements
/// and aligned to 4 bytes.
#[inline(never)]
pub unsafe fn read_write_every_4th(p: *mut u32, elements_touched: usize) {
    check_multiple(elements_touched, STREAM_UNROLL);
    if elements_touched > 0 {
        // SAFETY: the caller's promise, in whole turns, at least one.
        unsafe { arch::stream::read_write::<4>(p, elements_touched / STREAM_UNROLL) }
    }
}

/// Reads `bytes` bytes as fast as the baseline vector registers can (16 bytes:
/// SSE2, NEON) and returns the XOR of all its 64-bit words.
///
/// Eight accumulators, so that the loads set the pace.
///
/// # Panics
/// If `bytes` is not a multiple of [`VECTOR_UNROLL_BYTES`].
///
/// # Safety
/// `p` must be valid for reading `bytes` bytes and aligned to 16.
#[inline(never)]
pub unsafe fn read_vector(p: *const u8, bytes: usize) -> u64 {
    check_multiple(bytes, VECTOR_UNROLL_BYTES);
    if bytes == 0 {
        return 0;
    }
    // SAFETY: the caller's promise, in whole turns, at least one.
    unsafe { arch::stream::read_vector(p, bytes / VECTOR_UNROLL_BYTES) }
}

/// Loads `touches` words of 8 bytes, `stride_bytes` apart, and returns their
/// wrapping sum: one point of the memory mountain.
///
/// One operation is one load; four sums, so that the loads set the pace.
///
/// # Panics
/// If `touches` is not a multiple of [`STRIDE_UNROLL`].
///
/// # Safety
/// `p + k * stride_bytes` must be valid for reading 8 bytes for every `k`
/// below `touches`.
#[inline(never)]
pub unsafe fn read_stride(p: *const u8, touches: usize, stride_bytes: usize) -> u64 {
    check_multiple(touches, STRIDE_UNROLL);
    if touches == 0 {
        return 0;
    }
    // SAFETY: the caller's promise, in whole turns, at least one.
    unsafe { arch::stream::read_stride(p, touches / STRIDE_UNROLL, stride_bytes) }
}

/// XORs `bytes` bytes into one accumulator, one byte a turn, as Kurkin's naive
/// loop compiles when it is optimised but neither vectorised nor unrolled.
///
/// One operation is one byte: load and XOR, next address, compare, branch.
///
/// # Safety
/// `p` must be valid for reading `bytes` bytes.
#[inline(never)]
pub unsafe fn xor_bytes(p: *const u8, bytes: usize) -> u8 {
    if bytes == 0 {
        return 0;
    }
    // SAFETY: the caller's promise, and at least one byte.
    unsafe { arch::stream::xor_bytes(p, bytes) }
}

/// The same XOR by the vectorised loop: 64 bytes a turn in four accumulators,
/// as compilers make of it. What is left below 64 bytes is done one by one.
///
/// # Safety
/// `p` must be valid for reading `bytes` bytes.
#[inline(never)]
pub unsafe fn xor_bytes_vector(p: *const u8, bytes: usize) -> u8 {
    let turns = bytes / 64;
    let tail = turns * 64;
    let mut folded = if turns == 0 {
        0
    } else {
        // SAFETY: `turns * 64` bytes, at least 64, of the caller's.
        unsafe { arch::stream::xor_vector(p, turns) }
    };
    // From eight lanes of a byte to one.
    folded ^= folded >> 32;
    folded ^= folded >> 16;
    folded ^= folded >> 8;
    // SAFETY: the tail lies within the caller's `bytes` bytes.
    folded as u8 ^ unsafe { xor_bytes(p.add(tail), bytes - tail) }
}
