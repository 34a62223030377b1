//! `futex(2)`, private to the process. Apple systems have such a call since
//! macOS 14.4 only (`os_sync_wait_on_address`); linking it would shut out the
//! older ones.

use std::io;
use std::sync::atomic::AtomicU32;

#[cfg(not(target_vendor = "apple"))]
use rustix::thread::futex;

/// Sleeps while `word` holds `expected`, until another thread of this process
/// calls [`wake_one`] on it. May return early: check the word again.
///
/// # Errors
/// What `futex(2)` says (a signal, or another value in the word, is no error);
/// `Unsupported` on Apple systems.
#[inline]
#[cfg_attr(target_vendor = "apple", allow(unused_variables))]
pub fn wait(word: &AtomicU32, expected: u32) -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return Err(crate::platform::unsupported("a futex"));
    #[cfg(not(target_vendor = "apple"))]
    match futex::wait(word, futex::Flags::PRIVATE, expected, None) {
        Ok(()) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Wakes one thread of this process that sleeps on `word`, if there is one.
///
/// # Errors
/// What `futex(2)` says; `Unsupported` on Apple systems.
#[inline]
#[cfg_attr(target_vendor = "apple", allow(unused_variables))]
pub fn wake_one(word: &AtomicU32) -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return Err(crate::platform::unsupported("a futex"));
    #[cfg(not(target_vendor = "apple"))]
    {
        futex::wake(word, futex::Flags::PRIVATE, 1)?;
        Ok(())
    }
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
