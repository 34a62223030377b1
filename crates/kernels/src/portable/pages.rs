//! See `crate::pages`.

/// # Safety
/// As `crate::touch_pages`.
pub(crate) unsafe fn touch(p: *mut u8, pages: usize, page_bytes: usize) {
    for page in 0..pages {
        // SAFETY: one of the bytes that the caller vouches for.
        unsafe { p.add(page * page_bytes).write_volatile(1) }
    }
}

/// # Safety
/// As `crate::read_pages`.
pub(crate) unsafe fn read_pages(p: *const u8, pages: usize, page_bytes: usize) -> u64 {
    (0..pages)
        // SAFETY: one of the bytes that the caller vouches for.
        .map(|page| u64::from(unsafe { p.add(page * page_bytes).read_volatile() }))
        .sum()
}
