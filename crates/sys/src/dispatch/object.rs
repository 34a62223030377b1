//! What libdispatch creates: it is shared by threads, and released at the end.

use super::Functions;
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

/// An object of libdispatch; one of its own is released when dropped.
pub(super) struct Object {
    pub(super) functions: &'static Functions,
    own: NonNull<c_void>,
    is_released: bool,
}

// SAFETY: queues and semaphores are made to be used by several threads at once.
unsafe impl Sync for Object {}
// SAFETY: neither belongs to a thread.
unsafe impl Send for Object {}

impl Object {
    /// What a function of the library gave. One that all share is not released.
    ///
    /// # Errors
    /// `OutOfMemory` where it gave nothing.
    #[inline]
    pub(super) fn from_raw(
        functions: &'static Functions,
        own: *mut c_void,
        is_released: bool,
    ) -> io::Result<Object> {
        Ok(Object {
            functions,
            own: NonNull::new(own).ok_or(io::ErrorKind::OutOfMemory)?,
            is_released,
        })
    }

    /// As the library's functions want it.
    #[inline]
    pub(super) fn as_ptr(&self) -> *mut c_void {
        self.own.as_ptr()
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.is_released {
            // SAFETY: created by this library, and no other code has it.
            unsafe { (self.functions.release)(self.own.as_ptr()) }
        }
    }
}
