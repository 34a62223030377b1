//! Semaphores of libdispatch.

use super::Dispatch;
use super::object::Object;
use std::fmt;
use std::io;

/// `DISPATCH_TIME_FOREVER`.
const FOREVER: u64 = u64::MAX;

/// A counting semaphore that begins at 0; released when dropped.
pub struct Semaphore(Object);

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Semaphore")
    }
}

impl Dispatch {
    /// A new semaphore.
    ///
    /// # Errors
    /// `OutOfMemory` where libdispatch gives none.
    pub fn semaphore(&'static self) -> io::Result<Semaphore> {
        // SAFETY: any value that is not negative is allowed. libdispatch ends a program that
        // releases a semaphore below the value it was created with: 0 is the lowest.
        let own = unsafe { (self.functions.semaphore_create)(0) };
        Object::from_raw(&self.functions, own, true).map(Semaphore)
    }
}

impl Semaphore {
    /// `dispatch_semaphore_signal()`: adds one, and wakes a waiter if there is one.
    #[inline]
    pub fn signal(&self) {
        // SAFETY: created by `semaphore_create`, not released while `self` is there.
        unsafe { (self.0.functions.semaphore_signal)(self.0.as_ptr()) };
    }

    /// `dispatch_semaphore_wait()`: takes one, and sleeps while there is none.
    #[inline]
    pub fn wait(&self) {
        // SAFETY: as in `signal`. Without a timeout it can't fail.
        unsafe { (self.0.functions.semaphore_wait)(self.0.as_ptr(), FOREVER) };
    }
}
