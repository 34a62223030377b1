//! Memory that a process shares with those it forks.

use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// A shared anonymous mapping of zero bytes: forked processes see the same
/// pages, and all are given back when the last of them has ended.
#[derive(Debug)]
struct Shared {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process and not to a thread.
unsafe impl Send for Shared {}
// SAFETY: what a shared reference gives is said, with its reason, below.
unsafe impl Sync for Shared {}

impl Shared {
    fn new(len: usize) -> io::Result<Shared> {
        // A mapping has at least one byte.
        let len = len.max(1);
        // SAFETY: a new mapping at an address of the kernel's choice touches
        // no existing memory.
        let start = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
            )?
        };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Shared { start, len })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: exactly the range that was mapped; slices of it borrow
        // `self`. An error would leave it mapped, which does no harm.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Numbers that all processes may write.
#[derive(Debug)]
pub(crate) struct SharedNumbers(Shared, usize);

impl SharedNumbers {
    /// This many, all 0.
    pub(crate) fn new(count: usize) -> io::Result<SharedNumbers> {
        let bytes = count.checked_mul(size_of::<AtomicU64>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(SharedNumbers(Shared::new(bytes)?, count))
    }

    pub(crate) fn all(&self) -> &[AtomicU64] {
        // SAFETY: mapped, page-aligned and zeroed (a valid atomic) for as
        // long as `self` lives; whichever process has the pages, this process or a
        // forked one, has them as atomics too.
        unsafe { std::slice::from_raw_parts(self.0.start.as_ptr().cast(), self.1) }
    }
}

/// Bytes that are written before anybody else has them, and only read from
/// then on.
#[derive(Debug)]
pub(crate) struct SharedBytes(Shared, usize);

impl SharedBytes {
    /// This many, as `fill` leaves them.
    pub(crate) fn new(len: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<SharedBytes> {
        let mapping = Shared::new(len)?;
        // SAFETY: mapped writable and initialised; no other code knows of it.
        fill(unsafe { std::slice::from_raw_parts_mut(mapping.start.as_ptr(), len) });
        Ok(SharedBytes(mapping, len))
    }

    pub(crate) fn all(&self) -> &[u8] {
        // SAFETY: mapped for as long as `self` lives; no code, in any process,
        // has a way to write once `new` is done.
        unsafe { std::slice::from_raw_parts(self.0.start.as_ptr(), self.1) }
    }
}
