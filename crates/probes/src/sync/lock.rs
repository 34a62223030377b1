//! Uncontended locks.

use super::EFFORT;
use crate::engine::paired::{DIFFERENCE, Paired, Short, Unrolled};
use meter::probe::Probe;
use std::sync::{Mutex, PoisonError, RwLock};

pub(crate) fn lock_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "mutex, uncontended".into(),
            operation: "One lock and unlock of an uncontended mutex, with nothing between.".into(),
            method: format!("{DIFFERENCE} Rust's standard Mutex, as compiled, which also checks whether it is poisoned.").into(),
            source: "The 2012 list's mutex lock/unlock.".into(),
            effort: EFFORT,
            make: Box::new(|_, _| Ok(Box::new(Paired(Unrolled(Box::new(Locked(Mutex::new(())))))))),
            ..Probe::blank("sync.mutex_uncontended")
        },
        Probe {
            title: "read lock, uncontended".into(),
            operation: "One read lock and unlock of an uncontended readers-writer lock, with nothing between.".into(),
            method: format!("{DIFFERENCE} Rust's standard RwLock, as compiled.").into(),
            source: "Ours, to compare with the mutex.".into(),
            effort: EFFORT,
            make: Box::new(|_, _| Ok(Box::new(Paired(Unrolled(Box::new(Read(RwLock::new(())))))))),
            ..Probe::blank("sync.rwlock_read")
        },
    ]
}

struct Locked(Mutex<()>);

impl Short for Box<Locked> {
    #[inline(always)]
    fn once(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

struct Read(RwLock<()>);

impl Short for Box<Read> {
    #[inline(always)]
    fn once(&self) {
        drop(self.0.read().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    /// How long a thread that has to wait is watched,
    const SOON: Duration = Duration::from_millis(20);
    /// and one that has not, on a machine however busy.
    const LATE: Duration = Duration::from_secs(60);

    /// Whether `once` waits while `hold` holds.
    fn waits<S: Short + Sync, G>(short: &S, limit: Duration, hold: impl FnOnce() -> G) -> bool {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let held = hold();
            scope.spawn(|| {
                short.once();
                done.store(true, Ordering::SeqCst);
            });
            let begin = Instant::now();
            while !done.load(Ordering::SeqCst) && begin.elapsed() < limit {
                std::thread::sleep(Duration::from_millis(1));
            }
            let waited = !done.load(Ordering::SeqCst);
            drop(held);
            waited
        })
    }

    #[test]
    fn both_take_their_lock_and_give_it_back() {
        let mutex = Box::new(Locked(Mutex::new(())));
        assert!(waits(&mutex, SOON, || mutex.0.lock()));
        assert!(mutex.0.try_lock().is_ok());
        let read = Box::new(Read(RwLock::new(())));
        assert!(waits(&read, SOON, || read.0.write()));
        assert!(!waits(&read, LATE, || read.0.read()), "readers share it");
        assert!(read.0.try_write().is_ok());
        for row in ["sync.mutex_uncontended", "sync.rwlock_read"] {
            crate::engine::testing::run_row(&lock_probes(), row).expect("it runs");
        }
    }
}
