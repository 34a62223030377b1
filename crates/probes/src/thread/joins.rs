//! How often the creator of threads left its CPU, held against what its rows
//! assume.

use crate::engine::reason::Reason;
use crate::engine::switches::{Rate, since};
use crate::engine::waits::{ThreadsWait, Waits, process_watched, waited_too_long};
use model::share::percent;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sys::evidence::Switches;

/// Context switches of the creator for each thread, at least and at most.
const LEAST: f64 = 0.5;
const MOST: f64 = 4.0;

/// Share of its time that the creator may wait for a CPU. It does for a moment
/// where its thread has the CPU when it ends: 1 to 2 % where nothing else runs.
const WAITS_AT_MOST: f64 = 0.1;

/// Share of that time in which a thread that it creates may wait for a CPU while no thread of the
/// row runs.
const THREADS_WAIT_AT_MOST: f64 = 0.25;

/// What the methods say of it.
pub(super) const TEXT: &str = "The kernel's count of the creator's context switches from before the create call to after the join is in the notes. It is 1 where the join sleeps; a thread that ends before it is joined makes it less, and one that preempts its creator may make it more. Fewer than 0.5 per thread or more than 4 make the row invalid: then threads were not waited for, or other programs ran. So does a creator that waits for a CPU for more than a tenth of its time, and threads that wait for one for more than a quarter of it, as other new threads do before and after.";

/// The kernel's count for threads that were created and joined.
#[derive(Debug, Default)]
pub(super) struct Joins {
    threads: AtomicU64,
    voluntary: AtomicU64,
    involuntary: AtomicU64,
    /// How long the creator waited for a CPU, and of how long, ns.
    waited_ns: AtomicU64,
    wall_ns: AtomicU64,
    /// How long it and its threads waited for others, ns.
    threads_waited_ns: AtomicU64,
    /// The system doesn't count.
    untold: AtomicBool,
}

impl Joins {
    /// Adds one thread that the calling one has created and joined since it
    /// had these switches.
    pub(super) fn add_joined_thread(&self, before: Option<Switches>) {
        match since(before) {
            Some(Switches { voluntary, involuntary }) => {
                self.count_switches(1, voluntary, involuntary)
            }
            None => self.untold.store(true, Ordering::Relaxed),
        }
    }

    /// Adds how long the calling thread, a creator of so many threads, and these waited while it
    /// did this; how long all waited for others, ns.
    pub(super) fn watched<R>(
        &self,
        threads: u32,
        create: impl FnOnce() -> Result<R, Reason>,
    ) -> Result<(R, Option<u64>), Reason> {
        let (done, waited) = process_watched(threads.into(), || {
            let waits = Waits::of_thread(sys::thread::current_id());
            let done = create();
            if let Some((waited_ns, wall_ns)) = waits.and_then(|waits| waits.until_now()) {
                self.note_wait(waited_ns, wall_ns);
            }
            done
        })?;
        let waited_ns = waited.map(ThreadsWait::in_turns_ns);
        self.threads_waited_ns.fetch_add(waited_ns.unwrap_or(0), Ordering::Relaxed);
        Ok((done, waited_ns))
    }

    fn note_wait(&self, waited_ns: u64, wall_ns: u64) {
        self.waited_ns.fetch_add(waited_ns, Ordering::Relaxed);
        self.wall_ns.fetch_add(wall_ns, Ordering::Relaxed);
    }

    /// How long the creator waited, and of how long.
    pub(super) fn waited(&self) -> Option<(u64, u64)> {
        let [waited, wall] = [&self.waited_ns, &self.wall_ns].map(|ns| ns.load(Ordering::Relaxed));
        (wall > 0).then_some((waited, wall))
    }

    /// Adds what another one has.
    pub(super) fn include(&self, other: &Joins) {
        let [threads, voluntary, involuntary] =
            [&other.threads, &other.voluntary, &other.involuntary]
                .map(|count| count.load(Ordering::Relaxed));
        self.count_switches(threads, voluntary, involuntary);
        self.untold.fetch_or(other.untold.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn count_switches(&self, threads: u64, voluntary: u64, involuntary: u64) {
        self.threads.fetch_add(threads, Ordering::Relaxed);
        self.voluntary.fetch_add(voluntary, Ordering::Relaxed);
        self.involuntary.fetch_add(involuntary, Ordering::Relaxed);
    }

    /// Switches per thread.
    fn per_thread(&self) -> Option<Rate> {
        let [threads, voluntary, involuntary] = [&self.threads, &self.voluntary, &self.involuntary]
            .map(|count| count.load(Ordering::Relaxed));
        let counted = threads > 0 && !self.untold.load(Ordering::Relaxed);
        counted.then(|| Rate::per(Switches { voluntary, involuntary }, threads))
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let switches =
            self.per_thread().map(|rate| format!("the creator's {}", rate.note("thread")));
        let waited = self.waited().map(|(waited, wall)| {
            let share = percent(waited as f64 / wall as f64);
            format!("the creator's wait for a CPU: {share} of the time")
        });
        switches.into_iter().chain(waited).collect()
    }

    pub(super) fn contradiction(&self) -> Option<String> {
        let creator = || waited_too_long("the creator", self.waited()?, WAITS_AT_MOST);
        let threads = || {
            let waited_ns = self.threads_waited_ns.load(Ordering::Relaxed);
            waited_too_long("a thread", (waited_ns, self.waited()?.1), THREADS_WAIT_AT_MOST)
        };
        self.strange_switches().or_else(creator).or_else(threads)
    }

    fn strange_switches(&self) -> Option<String> {
        let rate = self.per_thread()?;
        (!(LEAST..=MOST).contains(&rate.both())).then(|| {
            rate.contradiction(&format!(
                "{LEAST} to {MOST} context switches of the creator per thread"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::evidence::thread_switches;

    fn of_100(voluntary: u64, involuntary: u64) -> Joins {
        let joins = Joins::default();
        joins.count_switches(100, voluntary, involuntary);
        joins
    }

    #[test]
    fn joins_that_never_wait_and_storms_contradict() {
        assert_eq!(of_100(100, 3).contradiction(), None);
        assert_eq!(of_100(10, 90).contradiction(), None);
        assert_eq!(of_100(100, 200).contradiction(), None);
        let never = of_100(2, 1).contradiction().expect("it never waited");
        assert!(never.ends_with("0.02 voluntary, 0.01 involuntary"), "{never}");
        assert!(of_100(300, 200).contradiction().is_some());
        let note = of_100(100, 3).notes().remove(0);
        assert!(note.ends_with("per thread: 1.00 voluntary, 0.03 involuntary"), "{note}");
        // They would be merged if they began alike.
        assert_ne!(note.split(": ").next(), never.split(": ").next());
    }

    #[test]
    fn what_was_not_counted_is_not_judged() {
        let all = of_100(0, 0);
        assert!(all.contradiction().is_some());
        let part = Joins::default();
        part.add_joined_thread(None);
        all.include(&part);
        assert_eq!((all.notes(), all.contradiction()), (Vec::new(), None));
        assert_eq!(Joins::default().contradiction(), None, "no thread at all");
    }

    #[test]
    fn a_creator_that_others_keep_from_its_cpu_contradicts() {
        let joins = of_100(100, 3);
        joins.note_wait(80_000, 1_000_000);
        assert_eq!(joins.contradiction(), None, "its own threads come and go");
        joins.note_wait(720_000, 1_000_000);
        let said = joins.contradiction().expect("others had its CPU");
        assert!(said.ends_with("the creator waited for a CPU 40 % of the time"), "{said}");
        let notes = joins.notes();
        assert_eq!(notes[1], "the creator's wait for a CPU: 40 % of the time");
        let watched = Joins::default();
        let (done, waited_ns) = watched.watched(1, || Ok(7)).expect("threads");
        assert_eq!(done, 7);
        let counts = Waits::of_thread(sys::thread::current_id()).is_some();
        assert_eq!((watched.waited().is_some(), waited_ns.is_some()), (counts, counts));
    }

    #[test]
    fn threads_that_wait_for_their_first_cpu_contradict() {
        let joins = of_100(100, 3);
        joins.note_wait(10_000, 4_000_000);
        joins.threads_waited_ns.store(1_000_000, Ordering::Relaxed);
        assert_eq!(joins.contradiction(), None);
        joins.threads_waited_ns.store(3_960_000, Ordering::Relaxed);
        assert_eq!(
            joins.contradiction().as_deref(),
            Some("other programs ran: a thread waited for a CPU 99 % of the time")
        );
    }

    #[test]
    fn a_sleep_counts() {
        let Some(before) = thread_switches() else {
            return;
        };
        std::thread::sleep(std::time::Duration::from_millis(1));
        let part = Joins::default();
        part.add_joined_thread(Some(before));
        let all = of_100(0, 0);
        all.include(&part);
        assert!(all.voluntary.load(Ordering::Relaxed) >= 1);
        assert_eq!(all.threads.load(Ordering::Relaxed), 101);
    }
}
