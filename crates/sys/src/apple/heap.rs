//! The allocator of the system.

use std::ffi::c_void;
use std::ptr;

unsafe extern "C" {
    /// `malloc/malloc.h`: all zones if none is named, as much as can be if the
    /// goal is 0.
    fn malloc_zone_pressure_relief(zone: *mut c_void, goal: usize) -> usize;
}

pub(crate) fn give_back() -> bool {
    // SAFETY: takes away nothing that is in use, from any thread.
    unsafe {
        malloc_zone_pressure_relief(ptr::null_mut(), 0);
    }
    true
}
