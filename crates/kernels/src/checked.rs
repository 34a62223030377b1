//! The streaming loops behind safe signatures: slices in, so that callers
//! need no `unsafe`. Element counts are rounded down to whole turns.

use crate::STREAM_UNROLL;

/// Bytes seen as 4-byte elements; a few bytes at either end may be left out.
pub fn words(bytes: &[u8]) -> &[u32] {
    // SAFETY: every bit pattern is a valid u32.
    unsafe { bytes.align_to::<u32>().1 }
}

/// Bytes seen as 4-byte elements, to write.
pub fn words_mut(bytes: &mut [u8]) -> &mut [u32] {
    // SAFETY: every bit pattern is a valid u32, and of four u8.
    unsafe { bytes.align_to_mut::<u32>().1 }
}

/// What a streaming loop does with each element it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `sum += p[i]`
    Read,
    /// `p[i] = 1`
    Write,
    /// `p[i] = p[i] * 2`
    ReadWrite,
}

/// Elements that [`stream`] touches in `words` at this step (1 or 4).
pub fn touched(words: usize, every_4th: bool) -> usize {
    let touched = if every_4th { words / 4 } else { words };
    touched / STREAM_UNROLL * STREAM_UNROLL
}

/// Goes once through the elements, each or every 4th.
#[inline]
pub fn stream(access: Access, words: &mut [u32], every_4th: bool) -> u32 {
    let count = touched(words.len(), every_4th);
    let p = words.as_mut_ptr();
    // SAFETY: `count` elements, 1 or 4 apart, lie in the slice: `touched`
    // divides accordingly. The slice is borrowed mutably.
    unsafe {
        match (access, every_4th) {
            (Access::Read, false) => return crate::read_sequential(p, count),
            (Access::Read, true) => return crate::read_every_4th(p, count),
            (Access::Write, false) => crate::write_sequential(p, count),
            (Access::Write, true) => crate::write_every_4th(p, count),
            (Access::ReadWrite, false) => crate::read_write_sequential(p, count),
            (Access::ReadWrite, true) => crate::read_write_every_4th(p, count),
        }
    }
    0
}

/// Sums the elements of memory that others may read too: `sum += p[i]`, one
/// by one, wrapping.
///
/// ```
/// assert_eq!(kernels::checked::sum(&[u32::MAX; 64]), (-64_i32).cast_unsigned());
/// ```
#[inline]
pub fn sum(words: &[u32]) -> u32 {
    // SAFETY: `touched` elements lie in the slice.
    unsafe { crate::read_sequential(words.as_ptr(), touched(words.len(), false)) }
}

/// Sums every 4th element, wrapping: a load each 16 bytes.
///
/// ```
/// assert_eq!(kernels::checked::sum_every_4th(&[3; 128]), 3 * 32);
/// ```
#[inline]
pub fn sum_every_4th(words: &[u32]) -> u32 {
    // SAFETY: `touched` elements, 4 apart, lie in the slice.
    unsafe { crate::read_every_4th(words.as_ptr(), touched(words.len(), true)) }
}

/// Reads all bytes with the widest vectors that the baseline has.
#[inline]
pub fn read_vector(bytes: &[u8]) -> u64 {
    let whole = bytes.len() / 1024 * 1024;
    // SAFETY: `whole` bytes lie in the slice.
    unsafe { crate::read_vector(bytes.as_ptr(), whole) }
}

/// Reads 8 bytes at every `stride`-th byte, from the slice's beginning to its
/// end; gives the number of loads made. Strides are multiples of 8.
#[inline]
pub fn read_stride(bytes: &[u8], stride: usize) -> usize {
    const UNROLL: usize = 16;
    let stride = stride.max(8) / 8 * 8;
    let touches = bytes.len() / stride / UNROLL * UNROLL;
    // SAFETY: the last load begins at (touches - 1) * stride, at least 8
    // bytes before the slice's end.
    unsafe { crate::read_stride(bytes.as_ptr(), touches, stride) };
    touches
}

/// Kurkin's naive loop over all bytes: one element a step.
#[inline]
pub fn xor_bytes(bytes: &[u8]) -> u8 {
    // SAFETY: all of the slice.
    unsafe { crate::xor_bytes(bytes.as_ptr(), bytes.len()) }
}

/// The same with vectors.
#[inline]
pub fn xor_bytes_vector(bytes: &[u8]) -> u8 {
    // SAFETY: all of the slice.
    unsafe { crate::xor_bytes_vector(bytes.as_ptr(), bytes.len()) }
}

/// A conditional branch on the lowest bit of each byte.
#[inline]
pub fn branches(bytes: &[u8]) -> u64 {
    // SAFETY: all of the slice.
    unsafe { crate::branches(bytes.as_ptr(), bytes.len()) }
}

/// The platform's memcpy. Copies as many bytes as the shorter slice has.
#[inline]
pub fn copy(to: &mut [u8], from: &[u8]) {
    let bytes = to.len().min(from.len());
    // SAFETY: both slices have that many bytes, and can't overlap.
    unsafe { crate::copy(to.as_mut_ptr(), from.as_ptr(), bytes) }
}

/// The platform's memset.
#[inline]
pub fn fill(bytes: &mut [u8], byte: u8) {
    // SAFETY: all of the slice.
    unsafe { crate::fill(bytes.as_mut_ptr(), byte, bytes.len()) }
}

/// Stores one byte in each page.
#[inline]
pub fn touch_pages(bytes: &mut [u8], page_bytes: usize) {
    let pages = bytes.len() / page_bytes;
    // SAFETY: `pages` whole pages lie in the slice.
    unsafe { crate::touch_pages(bytes.as_mut_ptr(), pages, page_bytes) }
}

/// Loads one byte of each page.
#[inline]
pub fn read_pages(bytes: &[u8], page_bytes: usize) -> u64 {
    let pages = bytes.len() / page_bytes;
    // SAFETY: `pages` whole pages lie in the slice.
    unsafe { crate::read_pages(bytes.as_ptr(), pages, page_bytes) }
}
