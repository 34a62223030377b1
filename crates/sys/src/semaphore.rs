//! The platform's own semaphore between threads.

use std::io;

use crate::platform;

/// A counting semaphore: an unnamed POSIX one (`sem_init(3)`), or
/// libdispatch's on Apple systems, which have no unnamed POSIX ones.
///
/// Nothing of it is seen outside the process, so nothing is left when the
/// process is killed (a System V semaphore would be).
#[derive(Debug)]
pub struct Semaphore(platform::semaphore::Semaphore);

impl Semaphore {
    /// A new one that lets `initial` waits through.
    ///
    /// # Errors
    /// What `sem_init(3)` says, `InvalidInput` beyond its largest value;
    /// `OutOfMemory` where libdispatch gives none.
    pub fn new(initial: u32) -> io::Result<Semaphore> {
        Ok(Semaphore(platform::semaphore::Semaphore::new(initial)?))
    }

    /// Adds one, and wakes a waiter if there is one.
    ///
    /// # Errors
    /// What `sem_post(3)` says: only that it is at its largest value.
    #[inline]
    pub fn post(&self) -> io::Result<()> {
        self.0.post()
    }

    /// Takes one; sleeps while there is none.
    ///
    /// # Errors
    /// What `sem_wait(3)` says (a signal is no error: it goes on waiting).
    #[inline]
    pub fn wait(&self) -> io::Result<()> {
        self.0.wait()
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
