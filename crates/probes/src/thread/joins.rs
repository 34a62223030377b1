//! How often the creator of threads left its CPU, held against what its rows
//! assume.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sys::evidence::{Switches, thread_switches};

/// Context switches of the creator for each thread, at least and at most.
const LEAST: f64 = 0.5;
const MOST: f64 = 4.0;

/// What the methods say of it.
pub(super) const TEXT: &str = "The kernel's count of the creator's context switches from before the create call to after the join is in the notes. It is 1 where the join sleeps; a thread that ends before it is joined makes it less, and one that takes its creator's CPU may make it more. Fewer than 0.5 a thread or more than 4 make the row invalid: then threads were not waited for, or something else ran.";

/// The kernel's count for threads that were created and joined.
#[derive(Debug, Default)]
pub(super) struct Joins {
    threads: AtomicU64,
    voluntary: AtomicU64,
    involuntary: AtomicU64,
    /// The system doesn't count.
    untold: AtomicBool,
}

impl Joins {
    /// Adds one thread that the calling one has created and joined since it
    /// had these switches.
    pub(super) fn add(&self, before: Option<Switches>) {
        let since = || {
            let (before, now) = (before?, thread_switches()?);
            Some((
                now.voluntary.checked_sub(before.voluntary)?,
                now.involuntary.checked_sub(before.involuntary)?,
            ))
        };
        match since() {
            Some((voluntary, involuntary)) => self.count(1, voluntary, involuntary),
            None => self.untold.store(true, Ordering::Relaxed),
        }
    }

    /// Adds what another one has.
    pub(super) fn include(&self, other: &Joins) {
        let [threads, voluntary, involuntary] =
            [&other.threads, &other.voluntary, &other.involuntary]
                .map(|count| count.load(Ordering::Relaxed));
        self.count(threads, voluntary, involuntary);
        self.untold
            .fetch_or(other.untold.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn count(&self, threads: u64, voluntary: u64, involuntary: u64) {
        self.threads.fetch_add(threads, Ordering::Relaxed);
        self.voluntary.fetch_add(voluntary, Ordering::Relaxed);
        self.involuntary.fetch_add(involuntary, Ordering::Relaxed);
    }

    /// Switches per thread, to wait and forced.
    fn per_thread(&self) -> Option<(f64, f64)> {
        let threads = self.threads.load(Ordering::Relaxed);
        if threads == 0 || self.untold.load(Ordering::Relaxed) {
            return None;
        }
        let [waits, forced] = [&self.voluntary, &self.involuntary]
            .map(|count| count.load(Ordering::Relaxed) as f64 / threads as f64);
        Some((waits, forced))
    }

    pub(super) fn note(&self) -> Option<String> {
        self.per_thread().map(|(waits, forced)| {
            format!(
                "the creator's context switches per thread: {waits:.2} to wait, {forced:.2} forced"
            )
        })
    }

    pub(super) fn contradiction(&self) -> Option<String> {
        let (waits, forced) = self.per_thread()?;
        (!(LEAST..=MOST).contains(&(waits + forced))).then(|| {
            format!(
                "the method assumes {LEAST} to {MOST} context switches of the creator per thread, but the kernel counted: {waits:.2} to wait, {forced:.2} forced"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_100(voluntary: u64, involuntary: u64) -> Joins {
        let joins = Joins::default();
        joins.count(100, voluntary, involuntary);
        joins
    }

    #[test]
    fn joins_that_never_wait_and_storms_contradict() {
        assert_eq!(of_100(100, 3).contradiction(), None);
        assert_eq!(of_100(10, 90).contradiction(), None);
        assert_eq!(of_100(100, 200).contradiction(), None);
        let never = of_100(2, 1).contradiction().expect("it never waited");
        assert!(never.ends_with("0.02 to wait, 0.01 forced"), "{never}");
        assert!(of_100(300, 200).contradiction().is_some());
        let note = of_100(100, 3).note().expect("counted");
        assert!(
            note.ends_with("per thread: 1.00 to wait, 0.03 forced"),
            "{note}"
        );
        // They would be told as one if they began alike.
        assert_ne!(note.split(": ").next(), never.split(": ").next());
    }

    #[test]
    fn what_was_not_counted_is_not_judged() {
        let all = of_100(0, 0);
        assert!(all.contradiction().is_some());
        let part = Joins::default();
        part.add(None);
        all.include(&part);
        assert_eq!((all.note(), all.contradiction()), (None, None));
        assert_eq!(Joins::default().contradiction(), None, "no thread at all");
    }

    #[test]
    fn a_sleep_counts() {
        let Some(before) = thread_switches() else {
            return;
        };
        std::thread::sleep(std::time::Duration::from_millis(1));
        let part = Joins::default();
        part.add(Some(before));
        let all = of_100(0, 0);
        all.include(&part);
        assert!(all.voluntary.load(Ordering::Relaxed) >= 1);
        assert_eq!(all.threads.load(Ordering::Relaxed), 101);
    }
}
