//! The platform's own semaphore between threads.

use std::io;
use std::time::Duration;

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

    /// Takes one, but sleeps no longer than this; whether there was one. On
    /// Linux the time is the wall clock's, and a step of that moves its end.
    ///
    /// # Errors
    /// As [`wait`](Semaphore::wait).
    pub fn wait_for(&self, longest: Duration) -> io::Result<bool> {
        self.0.wait_for(longest)
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
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(through.load(Ordering::SeqCst), 2, "two posts, two waits");
            semaphore.post().expect("posts");
        });
        assert_eq!(through.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_wait_with_an_end_says_whether_there_was_one() {
        let semaphore = Semaphore::new(2).expect("a semaphore");
        for left in [true, true, false] {
            let got = semaphore.wait_for(Duration::from_millis(5));
            assert_eq!(got.expect("waits"), left);
        }
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn an_impossible_value_is_refused() {
        let error = Semaphore::new(u32::MAX).expect_err("beyond SEM_VALUE_MAX");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
