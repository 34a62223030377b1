//! One access per page, for page faults and TLB misses.

use crate::arch;

/// Stores the byte 1 at the start of each of `pages` pages.
///
/// One operation is one page. `page_bytes` is the distance from one page to
/// the next in bytes.
///
/// # Safety
/// `p + k * page_bytes` must be valid for writing one byte for every `k` below
/// `pages`.
#[inline(never)]
pub unsafe fn touch_pages(p: *mut u8, pages: usize, page_bytes: usize) {
    if pages > 0 {
        // SAFETY: the caller's promise, and at least one page.
        unsafe { arch::pages::touch(p, pages, page_bytes) }
    }
}

/// Loads the byte at the start of each of `pages` pages; returns their sum.
///
/// One operation is one page. The loads do not depend on each other.
/// `page_bytes` is the distance from one page to the next in bytes.
///
/// # Safety
/// `p + k * page_bytes` must be valid for reading one byte for every `k` below
/// `pages`.
#[inline(never)]
pub unsafe fn read_pages(p: *const u8, pages: usize, page_bytes: usize) -> u64 {
    if pages == 0 {
        return 0;
    }
    // SAFETY: the caller's promise, and at least one page.
    unsafe { arch::pages::read_pages(p, pages, page_bytes) }
}
