//! Waiting on a word of memory, and waking who waits there.

use std::io;
use std::sync::atomic::AtomicU32;

use crate::platform;

/// Sleeps while `word` holds `expected`, until another thread of this process
/// calls [`wake_one`] on it. It may come back for no reason at all: look at
/// the word again.
///
/// # Errors
/// What `futex(2)` says (a signal, or another value in the word, is none);
/// `Unsupported` on Apple systems.
#[inline]
pub fn wait(word: &AtomicU32, expected: u32) -> io::Result<()> {
    platform::futex::wait(word, expected)
}

/// Wakes one thread of this process that sleeps on `word`, if one does.
///
/// # Errors
/// What `futex(2)` says; `Unsupported` on Apple systems.
#[inline]
pub fn wake_one(word: &AtomicU32) -> io::Result<()> {
    platform::futex::wake_one(word)
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_waiter_sleeps_until_it_is_woken() {
        let word = AtomicU32::new(0);
        wait(&word, 1).expect("another value comes back at once");
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let before = crate::evidence::thread_switches();
                while word.load(Ordering::Acquire) == 0 {
                    wait(&word, 0).expect("waiting works");
                }
                (before, crate::evidence::thread_switches())
            });
            std::thread::sleep(std::time::Duration::from_millis(20));
            word.store(1, Ordering::Release);
            wake_one(&word).expect("waking works");
            let (before, after) = waiter.join().expect("the waiter comes back");
            let slept = |s: Option<crate::evidence::Switches>| s.map(|s| s.voluntary);
            assert!(slept(after) > slept(before), "{before:?} {after:?}");
        });
    }
}
