//! libdispatch's semaphores: `sem_init` answers ENOSYS on Apple systems.

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

/// `DISPATCH_TIME_FOREVER`.
const FOREVER: u64 = u64::MAX;

// Of libdispatch, which is a part of libSystem and so always linked.
unsafe extern "C" {
    fn dispatch_semaphore_create(value: isize) -> *mut c_void;
    fn dispatch_semaphore_signal(semaphore: *mut c_void) -> isize;
    fn dispatch_semaphore_wait(semaphore: *mut c_void, timeout: u64) -> isize;
    fn dispatch_release(object: *mut c_void);
}

#[derive(Debug)]
pub(crate) struct Semaphore {
    own: NonNull<c_void>,
}

// SAFETY: made to be used by several threads at once.
unsafe impl Sync for Semaphore {}
// SAFETY: it belongs to no thread.
unsafe impl Send for Semaphore {}

impl Semaphore {
    pub(crate) fn new(initial: u32) -> io::Result<Semaphore> {
        // SAFETY: any value that is not negative is allowed. Created at 0 and
        // raised: libdispatch ends a program that releases a semaphore below
        // the value it was created with.
        let own = NonNull::new(unsafe { dispatch_semaphore_create(0) })
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let semaphore = Semaphore { own };
        for _ in 0..initial {
            semaphore.post()?;
        }
        Ok(semaphore)
    }

    #[inline]
    pub(crate) fn post(&self) -> io::Result<()> {
        // SAFETY: created in `new`, not released while `self` is there.
        unsafe { dispatch_semaphore_signal(self.own.as_ptr()) };
        Ok(())
    }

    #[inline]
    pub(crate) fn wait(&self) -> io::Result<()> {
        // SAFETY: as in `post`. Without a timeout it can't fail.
        unsafe { dispatch_semaphore_wait(self.own.as_ptr(), FOREVER) };
        Ok(())
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: created in `new`, and nobody else has it.
        unsafe { dispatch_release(self.own.as_ptr()) };
    }
}
