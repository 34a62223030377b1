//! `sem_init(3)`, `sem_post(3)`, `sem_wait(3)`.

use std::cell::UnsafeCell;
use std::fmt;
use std::io;

/// Boxed: a semaphore must stay where it was made.
pub(crate) struct Semaphore(Box<UnsafeCell<libc::sem_t>>);

// SAFETY: a `sem_t` is made to be used by several threads at once, through
// the calls below, which are all that a shared reference gives.
unsafe impl Sync for Semaphore {}
// SAFETY: it belongs to no thread.
unsafe impl Send for Semaphore {}

impl Semaphore {
    pub(crate) fn new(initial: u32) -> io::Result<Semaphore> {
        // SAFETY: `sem_t` holds only integers, for which zero bytes are valid.
        let zeroed: libc::sem_t = unsafe { std::mem::zeroed() };
        let semaphore = Box::new(UnsafeCell::new(zeroed));
        // SAFETY: the pointer is to a `sem_t` that nobody uses yet; 0 is
        // "between threads of this process".
        checked(unsafe { libc::sem_init(semaphore.get(), 0, initial) })?;
        Ok(Semaphore(semaphore))
    }

    #[inline]
    pub(crate) fn post(&self) -> io::Result<()> {
        // SAFETY: initialised in `new`, not destroyed while `self` is there.
        checked(unsafe { libc::sem_post(self.0.get()) })
    }

    #[inline]
    pub(crate) fn wait(&self) -> io::Result<()> {
        loop {
            // SAFETY: as in `post`.
            match checked(unsafe { libc::sem_wait(self.0.get()) }) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`; whoever drops it is its only user.
        unsafe { libc::sem_destroy(self.0.get()) };
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Semaphore")
    }
}

#[inline]
fn checked(status: libc::c_int) -> io::Result<()> {
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
