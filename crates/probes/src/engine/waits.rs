//! How long the threads of an operation waited for a CPU, as the kernel counts it for each of
//! them.

use super::reason::Reason;
pub(crate) use meter::waits::{NoneRan, ProcessWaits, ThreadsWait};
use model::share::percent;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use sys::affinity::current_cpu;
use sys::evidence::{idle_entries_of, run_delay_ns_of};
use sys::thread::create_and_join;

/// How long a thread of this process waited for a CPU that others had, from a
/// moment on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    thread: u32,
    began: Instant,
    delay_ns: u64,
}

impl Waits {
    /// From now on, of the thread of this number; `None` where the system does
    /// not count.
    pub(crate) fn of_thread(thread: Option<u32>) -> Option<Waits> {
        Some(Waits { thread: thread?, began: Instant::now(), delay_ns: run_delay_ns_of(thread?)? })
    }

    /// Until now: how long it waited, and of how long, ns.
    pub(crate) fn until_now(&self) -> Option<(u64, u64)> {
        let delay_ns = run_delay_ns_of(self.thread)?.checked_sub(self.delay_ns)?;
        let wall_ns = u64::try_from(self.began.elapsed().as_nanos()).ok()?;
        Some((delay_ns, wall_ns))
    }
}

/// Does this; how long the calling thread waited for a CPU in that time, ns,
/// or `None` where the system doesn't count.
pub(crate) fn watched<R>(work: impl FnOnce() -> R) -> (R, Option<u64>) {
    let waits = Waits::of_thread(sys::thread::current_id());
    let done = work();
    let waited = waits.and_then(|waits| waits.until_now());
    (done, waited.map(|(delay_ns, _)| delay_ns))
}

/// How often the CPU that the calling thread is on goes idle, from a moment on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleEntries {
    cpu: u32,
    entries: u64,
}

impl IdleEntries {
    /// From now on; `None` where the system doesn't count, or doesn't say which CPU it is.
    pub(crate) fn begin() -> Option<IdleEntries> {
        let cpu = current_cpu()?;
        Some(IdleEntries { cpu, entries: idle_entries_of(cpu)? })
    }

    /// Until now, if the thread is still there.
    pub(crate) fn until_now(self) -> Option<u64> {
        let is_there = current_cpu() == Some(self.cpu);
        idle_entries_of(self.cpu)?.checked_sub(self.entries).filter(|_| is_there)
    }
}

/// What contradicts a row if this thread waited for more than this share of
/// its time.
pub(crate) fn waited_too_long(
    thread: &str,
    (delay_ns, wall_ns): (u64, u64),
    at_most: f64,
) -> Option<String> {
    let share = delay_ns as f64 / wall_ns.max(1) as f64;
    (share > at_most).then(|| {
        let share = percent(share);
        format!("other programs ran: {thread} waited for a CPU {share} of the time")
    })
}

/// New threads that are asked what they waited for a CPU, before and after operations that create
/// threads: one of those has ended before it can be asked, and must not read files itself.
const ASKED: u64 = 3;

/// Does this, in which the calling thread creates so many threads one after the other that end
/// again; what it, they and the other threads of the process waited, or `None` where the system
/// doesn't count.
pub(crate) fn process_watched<R>(
    created: u64,
    work: impl FnOnce() -> Result<R, Reason>,
) -> Result<(R, Option<ThreadsWait>), Reason> {
    let ask = || if created > 0 { new_thread_waits_ns() } else { Ok(Some(0)) };
    let before_ns = ask()?;
    let waits = ProcessWaits::begin();
    let done = work()?;
    let waited = waits.and_then(|waits| waits.until_now());
    let of_created_ns = before_ns.zip(ask()?).map(|(before, after)| (before + after) / 2 * created);
    let waited = waited.zip(of_created_ns).map(|(waited, of_created_ns)| ThreadsWait {
        runnable_ns: waited.runnable_ns + of_created_ns,
        ..waited
    });
    Ok((done, waited))
}

/// How long each of a few new threads, which the calling one creates and joins, waited for its
/// first CPU, ns: the mean. `None` where the system doesn't count.
fn new_thread_waits_ns() -> Result<Option<u64>, Reason> {
    let waited_and_unknown = [AtomicU64::new(0), AtomicU64::new(0)];
    for _ in 0..ASKED {
        create_and_join(&waited_and_unknown, note_own_wait, || ())
            .map_err(|e| Reason::not_started("threads", &e))?;
    }
    let [waited_ns, unknown] = waited_and_unknown.map(AtomicU64::into_inner);
    Ok((unknown == 0).then_some(waited_ns / ASKED))
}

fn note_own_wait([waited_ns, unknown]: &[AtomicU64; 2]) {
    match sys::thread::current_id().and_then(run_delay_ns_of) {
        Some(ns) => waited_ns.fetch_add(ns, Ordering::Relaxed),
        None => unknown.fetch_add(1, Ordering::Relaxed),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_cpu_is_judged_by_its_share() {
        let of = |delay_ns| waited_too_long("the partner", (delay_ns, 1_000_000), 0.02);
        assert_eq!(of(20_000), None);
        assert_eq!(
            of(150_000).as_deref(),
            Some("other programs ran: the partner waited for a CPU 15 % of the time")
        );
    }
}
