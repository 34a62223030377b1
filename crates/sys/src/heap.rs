//! The C library's allocator, called as a C program calls it.

use std::ffi::c_void;
use std::hint::black_box;
use std::io;

type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);

/// `malloc` of so many bytes and `free`, `turns` times; we never touch the
/// block (an allocator may write into it).
///
/// # Errors
/// `OutOfMemory` where `malloc` returns null; the turns end there.
pub fn malloc_free(bytes: usize, turns: u64) -> io::Result<()> {
    repeat(bytes, turns, |_| {})
}

/// [`malloc_free`], with one byte stored in each of the block's pages before
/// `free`.
pub fn malloc_touch_free(bytes: usize, turns: u64) -> io::Result<()> {
    let page = crate::pages::base_page_bytes();
    repeat(bytes, turns, |block| {
        for offset in (0..bytes).step_by(page) {
            // SAFETY: inside the block, which has `bytes` bytes.
            unsafe { block.cast::<u8>().add(offset).write_volatile(1) };
        }
    })
}

#[inline(always)]
fn repeat(bytes: usize, turns: u64, touch: impl Fn(*mut c_void)) -> io::Result<()> {
    // The optimiser may leave out a pair of calls that it can follow.
    let (malloc, free) = black_box((libc::malloc as Malloc, libc::free as Free));
    for _ in 0..turns {
        // SAFETY: any size may be asked for.
        let block = unsafe { malloc(bytes) };
        if block.is_null() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        touch(block);
        // SAFETY: allocated above, and nothing else refers to it.
        unsafe { free(block) };
    }
    Ok(())
}

/// Asks the allocator to return unused memory to the system, so that the next
/// large block is made of fresh pages. False where it has no such call (musl,
/// Bionic): those map large blocks anew each time.
pub fn give_back() -> bool {
    #[cfg(target_vendor = "apple")]
    {
        unsafe extern "C" {
            /// <malloc/malloc.h>: all zones if the zone is null, as much as
            /// possible if the goal is 0.
            fn malloc_zone_pressure_relief(zone: *mut c_void, goal: usize) -> usize;
        }
        // SAFETY: takes away nothing that is in use, from any thread.
        unsafe { malloc_zone_pressure_relief(std::ptr::null_mut(), 0) };
    }
    #[cfg(target_env = "gnu")]
    // SAFETY: takes away nothing that is in use, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
    cfg!(any(target_vendor = "apple", target_env = "gnu"))
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
            let mut watch = crate::ThreadWatch::for_this_thread();
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
