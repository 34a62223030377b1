//! The allocator of the C library.

/// glibc keeps the freed top of its heap; musl and Bionic have no such call,
/// and map large blocks anew each time.
pub(crate) fn give_back() -> bool {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes away nothing that is in use, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
    cfg!(target_env = "gnu")
}
