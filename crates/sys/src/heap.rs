//! The C library's allocator, called as a C program calls it.

use std::ffi::c_void;
use std::hint::black_box;
use std::io;

use crate::platform;

type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);

/// The allocator's two functions, of which the optimiser no longer knows which
/// they are: a pair of calls that it can follow it may leave out.
fn allocator() -> (Malloc, Free) {
    black_box((libc::malloc as Malloc, libc::free as Free))
}

/// `malloc` of so many bytes and `free`, `turns` times; the block is never
/// touched by us (an allocator may write into it).
///
/// # Errors
/// `OutOfMemory` where `malloc` gives nothing; the turns end there.
pub fn malloc_free(bytes: usize, turns: u64) -> io::Result<()> {
    let (malloc, free) = allocator();
    for _ in 0..turns {
        // SAFETY: any size may be asked for.
        let block = unsafe { malloc(bytes) };
        if block.is_null() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        // SAFETY: allocated above, and nothing else refers to it.
        unsafe { free(block) };
    }
    Ok(())
}

/// [`malloc_free`], with one byte stored in each of the block's pages between
/// the two.
///
/// # Errors
/// As there.
pub fn malloc_touch_free(bytes: usize, turns: u64) -> io::Result<()> {
    let (malloc, free) = allocator();
    let page = crate::pages::base_page_bytes();
    for _ in 0..turns {
        // SAFETY: any size may be asked for.
        let block = unsafe { malloc(bytes) };
        if block.is_null() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        for offset in (0..bytes).step_by(page) {
            // SAFETY: inside the block, which has `bytes` bytes.
            unsafe { block.cast::<u8>().add(offset).write_volatile(1) };
        }
        // SAFETY: allocated above, and nothing else refers to it.
        unsafe { free(block) };
    }
    Ok(())
}

/// Asks the allocator to give memory that it holds and nobody uses back to the
/// system, so that the next large block is made of fresh pages. Whether the
/// allocator has such a call; one that has none keeps no large blocks.
pub fn give_back() -> bool {
    platform::heap::give_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_can_not_be_had_is_an_error() {
        let error = malloc_free(isize::MAX as usize, 1).expect_err("too much");
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        malloc_touch_free(isize::MAX as usize, 1).expect_err("too much");
        malloc_free(16, 1000).expect("16 bytes");
    }

    #[test]
    fn every_page_is_touched() {
        let faults = || {
            let mut watch = crate::ThreadWatch::open();
            watch.read().minor_faults.expect("getrusage")
        };
        // Far beyond the size from which an allocator maps its blocks.
        let bytes = 64 << 20;
        let before = faults();
        malloc_free(bytes, 1).expect("64 MiB");
        assert!(faults() - before < 50, "untouched");
        let before = faults();
        malloc_touch_free(bytes, 1).expect("64 MiB");
        let huge = crate::pages::huge_page_bytes().unwrap_or(bytes);
        assert!(faults() - before >= (bytes / huge) as u64, "touched");
    }
}
