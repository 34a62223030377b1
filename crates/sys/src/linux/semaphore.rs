//! `sem_init(3)`, `sem_post(3)`, `sem_wait(3)`, `sem_timedwait(3)`.

use std::cell::UnsafeCell;
use std::fmt;
use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

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

    pub(crate) fn wait_for(&self, longest: Duration) -> io::Result<bool> {
        let until = end_of(longest);
        loop {
            // SAFETY: as in `post`; `until` is a time, read by the call only.
            match checked(unsafe { libc::sem_timedwait(self.0.get(), &raw const until) }) {
                Ok(()) => return Ok(true),
                Err(e) if e.kind() == io::ErrorKind::TimedOut => return Ok(false),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// When a wait of this length ends, by the wall clock: the only one that
/// `sem_timedwait` knows.
fn end_of(longest: Duration) -> libc::timespec {
    let now = clock_gettime(ClockId::Realtime);
    let nanos = now.tv_nsec as u64 + u64::from(longest.subsec_nanos());
    let seconds = longest.as_secs() + nanos / 1_000_000_000;
    // A year is for ever, and fits.
    let seconds = seconds.min(365 * 86_400) as i64;
    libc::timespec {
        tv_sec: (now.tv_sec as i64 + seconds) as libc::time_t,
        tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
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
