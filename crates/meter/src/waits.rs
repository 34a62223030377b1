//! How long the threads of a process waited for a CPU while they measured.

use std::time::Instant;
use sys::child::family_cpu_ns;
use sys::evidence::{Scheduled, scheduled_threads};

/// What all threads of this process wait from a moment on.
pub struct ProcessWaits {
    none_ran: NoneRan,
    threads: Vec<Scheduled>,
}

impl ProcessWaits {
    /// From now on; `None` where the system does not count.
    pub fn begin() -> Option<ProcessWaits> {
        Some(ProcessWaits { threads: scheduled_threads()?, none_ran: NoneRan::begin()? })
    }

    /// Until now, of the threads that have not ended.
    pub fn until_now(&self) -> Option<ThreadsWait> {
        let (none_ran_ns, wall_ns) = self.none_ran.until_now()?;
        let threads = since(&self.threads, scheduled_threads()?);
        Some(ThreadsWait {
            runnable_ns: threads.iter().map(|one| one.runnable_ns).sum(),
            least_ns: least_ns(&threads, sys::thread::current_id()),
            none_ran_ns,
            wall_ns,
        })
    }
}

/// What each had between two readings; a thread that is new, since it began.
fn since(before: &[Scheduled], mut now: Vec<Scheduled>) -> Vec<Scheduled> {
    for one in &mut now {
        if let Some(known) = before.iter().find(|known| known.thread == one.thread) {
            one.ran_ns = one.ran_ns.saturating_sub(known.ran_ns);
            one.runnable_ns = one.runnable_ns.saturating_sub(known.runnable_ns);
        }
    }
    now
}

/// What the caller waited, and that one of the other threads which waited least: any of those
/// that were awake may have done what the caller wanted done.
fn least_ns(threads: &[Scheduled], caller: Option<u32>) -> u64 {
    let is_caller = |one: &&Scheduled| Some(one.thread) == caller;
    let awake_ns = |one: &Scheduled| one.ran_ns + one.runnable_ns;
    let others = || threads.iter().filter(|one| !is_caller(one));
    let longest_ns = others().map(awake_ns).max().unwrap_or(0);
    // Some only woke up once.
    let least = others().filter(|one| 10 * awake_ns(one) >= longest_ns.max(1));
    let own_ns = threads.iter().find(is_caller).map_or(0, |one| one.runnable_ns);
    own_ns + least.map(|one| one.runnable_ns).min().unwrap_or(0)
}

/// Time in which no thread of this process, and no child that it has waited for, had a CPU,
/// from a moment on.
pub struct NoneRan {
    began: Instant,
    cpu_ns: u64,
}

impl NoneRan {
    /// From now on; `None` where the system does not count.
    pub fn begin() -> Option<NoneRan> {
        Some(NoneRan { cpu_ns: family_cpu_ns()?, began: Instant::now() })
    }

    /// Until now, and of how long, ns: 0 where several of them ran at a time for as long.
    pub fn until_now(&self) -> Option<(u64, u64)> {
        let wall_ns = u64::try_from(self.began.elapsed().as_nanos()).ok()?;
        let cpu_ns = family_cpu_ns()?.checked_sub(self.cpu_ns)?;
        Some((wall_ns.saturating_sub(cpu_ns), wall_ns))
    }
}

/// What the threads of an operation waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadsWait {
    /// For a CPU, all of them together, ns.
    pub runnable_ns: u64,
    /// The caller and one other, whichever waited least of those that were awake, ns.
    pub least_ns: u64,
    /// Time in which none of them had one, ns.
    pub none_ran_ns: u64,
    /// Of how long, ns.
    pub wall_ns: u64,
}

impl ThreadsWait {
    /// What they waited for CPUs that others had, where one of them runs at a time: one that
    /// waits while another one runs waits for that one, which is a part of the operation.
    pub fn in_turns_ns(self) -> u64 {
        self.runnable_ns.min(self.none_ran_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_in_turns_wait_for_others_while_none_of_them_runs() {
        let of = |runnable_ns, none_ran_ns| {
            let wall_ns = 4_000_000;
            ThreadsWait { runnable_ns, least_ns: 0, none_ran_ns, wall_ns }.in_turns_ns()
        };
        assert_eq!(of(40_000, 0), 0, "one ran all the time: they waited for each other");
        assert_eq!(of(1_000, 30_000), 1_000, "a CPU that had to leave idle");
        assert_eq!(of(3_990_000, 3_970_000), 3_970_000);
    }

    #[test]
    fn a_thread_that_waits_while_another_one_does_the_task_holds_nothing_up() {
        let of =
            |threads: &[(u64, u64)]| {
                let all = threads.iter().zip(0..).map(|(&(ran_ns, runnable_ns), thread)| {
                    Scheduled { thread, ran_ns, runnable_ns }
                });
                least_ns(&all.collect::<Vec<_>>(), Some(0))
            };
        // The second one spins for tasks, the third waits for the caller's CPU.
        assert_eq!(of(&[(1_000_000, 2_000), (900_000, 3_000), (0, 1_000_000)]), 5_000);
        // The second one waits for each task, the third has slept since it woke up.
        assert_eq!(of(&[(4_000_000, 0), (5_000, 3_900_000), (4_000, 1_000), (0, 0)]), 3_900_000);
        assert_eq!(of(&[(1_000_000, 7)]), 7);
    }

    #[test]
    fn a_process_waits_while_its_threads_are_there_and_sleep() {
        let Some(waits) = ProcessWaits::begin() else {
            assert_eq!(scheduled_threads(), None, "a kernel that doesn't count");
            return;
        };
        std::thread::sleep(std::time::Duration::from_millis(20));
        let waited = waits.until_now().expect("it counted before");
        // Of other tests of this process too, which may run all the time.
        assert!(waited.in_turns_ns() <= waited.runnable_ns);
        let later = waits.until_now().expect("it counted before");
        assert!(later.runnable_ns >= waited.runnable_ns);
    }
}
