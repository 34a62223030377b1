//! The platform's own semaphore between threads.

#[cfg(not(target_vendor = "apple"))]
use std::io;

/// `sem_t` must stay where it was initialised, hence the box.
#[cfg(not(target_vendor = "apple"))]
type Raw = Box<std::cell::UnsafeCell<libc::sem_t>>;
#[cfg(target_vendor = "apple")]
type Raw = std::ptr::NonNull<std::ffi::c_void>;

/// A counting semaphore: an unnamed POSIX one (`sem_init(3)`), or
/// libdispatch's on Apple systems, where `sem_init` says ENOSYS. Process-local,
/// so a killed process leaves nothing behind (unlike System V semaphores).
pub struct Semaphore(Raw);

// SAFETY: made to be used by several threads at once, through the calls below,
// which are all that a shared reference gives.
unsafe impl Sync for Semaphore {}
// SAFETY: it belongs to no thread.
unsafe impl Send for Semaphore {}

impl std::fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Semaphore")
    }
}

#[cfg(not(target_vendor = "apple"))]
impl Semaphore {
    /// A new one that lets `initial` waits through.
    ///
    /// # Errors
    /// What `sem_init(3)` says, `InvalidInput` beyond its largest value;
    /// `OutOfMemory` where libdispatch gives none.
    pub fn new(initial: u32) -> io::Result<Semaphore> {
        // SAFETY: `sem_t` holds only integers, for which zero bytes are valid.
        let zeroed: libc::sem_t = unsafe { std::mem::zeroed() };
        let raw = Raw::new(zeroed.into());
        // SAFETY: the pointer is to a `sem_t` not used yet; 0 is "between
        // threads of this process".
        checked(unsafe { libc::sem_init(raw.get(), 0, initial) })?;
        Ok(Semaphore(raw))
    }

    /// Adds one, and wakes a waiter if there is one.
    ///
    /// # Errors
    /// What `sem_post(3)` says: only that it is at its largest value.
    #[inline]
    pub fn post(&self) -> io::Result<()> {
        // SAFETY: initialised in `new`, not destroyed while `self` is there.
        checked(unsafe { libc::sem_post(self.0.get()) })
    }

    /// Takes one; sleeps while there is none.
    ///
    /// # Errors
    /// What `sem_wait(3)` says; a signal is no error, it goes on waiting.
    #[inline]
    pub fn wait(&self) -> io::Result<()> {
        loop {
            // SAFETY: as in `post`.
            match checked(unsafe { libc::sem_wait(self.0.get()) }) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

#[cfg(not(target_vendor = "apple"))]
impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`, and this is its only user.
        unsafe { libc::sem_destroy(self.0.get()) };
    }
}

#[cfg(not(target_vendor = "apple"))]
#[inline]
fn checked(status: libc::c_int) -> io::Result<()> {
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(target_vendor = "apple")]
mod apple {
    use super::Semaphore;
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

    #[allow(missing_docs)] // as of the POSIX one
    impl Semaphore {
        pub fn new(initial: u32) -> io::Result<Semaphore> {
            // SAFETY: any value that is not negative is allowed. Created at 0
            // and raised: libdispatch ends a program that releases a semaphore
            // below the value it was created with.
            let raw = NonNull::new(unsafe { dispatch_semaphore_create(0) });
            let semaphore = Semaphore(raw.ok_or(io::ErrorKind::OutOfMemory)?);
            for _ in 0..initial {
                semaphore.post()?;
            }
            Ok(semaphore)
        }

        #[inline]
        pub fn post(&self) -> io::Result<()> {
            // SAFETY: created in `new`, not released while `self` is there.
            unsafe { dispatch_semaphore_signal(self.0.as_ptr()) };
            Ok(())
        }

        #[inline]
        pub fn wait(&self) -> io::Result<()> {
            // SAFETY: as in `post`. Without a timeout it can't fail.
            unsafe { dispatch_semaphore_wait(self.0.as_ptr(), FOREVER) };
            Ok(())
        }
    }

    impl Drop for Semaphore {
        fn drop(&mut self) {
            // SAFETY: created in `new`, and this is its only user.
            unsafe { dispatch_release(self.0.as_ptr()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn each_post_lets_one_wait_through() {
        let semaphore = Semaphore::new(0).expect("a semaphore");
        let through = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..3 {
                    semaphore.wait().expect("waits");
                    through.fetch_add(1, Ordering::SeqCst);
                }
            });
            semaphore.post().expect("posts");
            semaphore.post().expect("posts");
            while through.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert_eq!(through.load(Ordering::SeqCst), 2, "two posts, two waits");
            semaphore.post().expect("posts");
        });
        assert_eq!(through.load(Ordering::SeqCst), 3);
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn an_impossible_value_is_refused() {
        let error = Semaphore::new(u32::MAX).expect_err("beyond SEM_VALUE_MAX");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
