//! The platform's own copy and fill.
//!
//! The sizes are not known when this is compiled, so both become calls of the
//! C library's `memcpy` and `memset`, which is what their rows are about; a
//! test checks that they do.

/// Copies `bytes` bytes from `src` to `dst` through the platform's `memcpy`.
///
/// # Safety
/// `src` must be valid for reading and `dst` for writing `bytes` bytes, and
/// the two must not overlap.
#[inline(never)]
pub unsafe fn copy(dst: *mut u8, src: *const u8, bytes: usize) {
    // SAFETY: the caller's promise is this function's own.
    unsafe { core::ptr::copy_nonoverlapping(src, dst, bytes) }
}

/// Sets `bytes` bytes at `dst` to `byte` through the platform's `memset`.
///
/// # Safety
/// `dst` must be valid for writing `bytes` bytes.
#[inline(never)]
pub unsafe fn fill(dst: *mut u8, byte: u8, bytes: usize) {
    // SAFETY: the caller's promise is this function's own.
    unsafe { core::ptr::write_bytes(dst, byte, bytes) }
}
