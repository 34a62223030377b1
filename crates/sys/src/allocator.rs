//! The system's allocator for a program that ends by itself where there is no
//! memory: the standard library would abort it.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator. An allocation that fails (`ulimit -v`, no memory) is
/// handed, with its size, to a function that ends the process and allocates
/// nothing.
pub struct Allocator(pub fn(usize) -> !);

impl Allocator {
    #[inline]
    fn checked(&self, block: *mut u8, bytes: usize) -> *mut u8 {
        if block.is_null() { (self.0)(bytes) } else { block }
    }
}

// SAFETY: all blocks are the system allocator's, which keeps the contract; what
// fails does not return.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of the same function.
        self.checked(unsafe { System.alloc(layout) }, layout.size())
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above; the block is the system allocator's.
        self.checked(unsafe { System.realloc(block, layout, bytes) }, bytes)
    }
    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
