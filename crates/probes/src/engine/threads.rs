//! What rows share whose threads run on several CPUs and stamp there.

use super::reason::Reason;
use meter::probe::{CounterOrigin, Event, MachineShape};
use std::io;
use std::thread::{self, Scope, ScopedJoinHandle};
use sys::affinity::{allowed_cpus, current_cpu, pin_to};

/// No CPU, where its number is kept in an atomic.
pub(crate) const NO_CPU: u32 = u32::MAX;

/// The CPU of this number, unless it is none.
pub(crate) fn some_cpu(cpu: u32) -> Option<u32> {
    (cpu != NO_CPU).then_some(cpu)
}

/// Names of the modes of an operation between two threads, where the system
/// says on which CPU a thread is.
pub(crate) fn modes() -> Vec<String> {
    match current_cpu() {
        Some(_) => ["same CPU", "other CPU"].map(String::from).to_vec(),
        None => Vec::new(),
    }
}

/// The mode of an operation between threads on these two CPUs.
pub(crate) fn mode(one: Option<u32>, other: Option<u32>) -> u8 {
    u8::from(one != other)
}

/// Two stamps as small numbers, the earlier of them 0.
pub(crate) fn apart(from: u64, to: u64) -> (u64, u64) {
    let ticks = to.wrapping_sub(from).cast_signed();
    match ticks {
        0.. => (0, ticks.cast_unsigned()),
        _ => (ticks.unsigned_abs(), 0),
    }
}

/// One operation, or several, between two stamps: a counter that ran
/// backwards gives a negative time, not a huge one.
pub(crate) fn event(from: u64, to: u64, ops: u64, mode: u8) -> Event {
    Event { place: stamps_origin(from, to, own_id()), ..length(from, to, ops, mode) }
}

/// The same where the two are no stamps but lengths of time.
pub(crate) fn length(from: u64, to: u64, ops: u64, mode: u8) -> Event {
    let (from_ticks, to_ticks) = apart(from, to);
    Event { series: 0, from_ticks, to_ticks, ops, mode, place: None }
}

/// Where two stamps lie whose event has them [`apart`].
pub(crate) fn stamps_origin(from: u64, to: u64, thread: Option<u32>) -> Option<CounterOrigin> {
    let (from_ticks, _) = apart(from, to);
    Some(CounterOrigin { zero_ticks: from.wrapping_sub(from_ticks), thread })
}

/// The kernel's number of the calling thread, asked for once: no call stands
/// between two operations.
pub(crate) fn own_id() -> Option<u32> {
    thread_local!(static OWN: Option<u32> = sys::thread::current_id());
    OWN.with(|own| *own)
}

/// Why rows on several CPUs can't run, if they can't.
pub(crate) fn alone(machine: &MachineShape) -> Option<String> {
    (machine.cpus.len() < 2).then(|| Reason::OneCpu.to_string())
}

/// Lets the calling thread, and those that it will start, run on all of these
/// CPUs; or leaves it where the system has no such sets.
pub(crate) fn run_on(cpus: &[u32]) -> Result<(), Reason> {
    if cpus.is_empty() {
        return Ok(());
    }
    match pin_to(cpus) {
        Err(e) if e.kind() != io::ErrorKind::Unsupported => Err(not_pinned(cpus, &e)),
        _ => Ok(()),
    }
}

fn not_pinned(cpus: &[u32], error: &io::Error) -> Reason {
    Reason::NotPinned { cpus: cpus.to_vec(), error: error.to_string() }
}

/// The calling thread on a set of CPUs; back where it was when dropped.
pub(crate) struct Pinned {
    before: Option<Vec<u32>>,
}

impl Pinned {
    /// Moves the calling thread; not at all if the set is empty or is what it
    /// has.
    pub(crate) fn to(cpus: &[u32]) -> Result<Pinned, Reason> {
        if cpus.is_empty() {
            return Ok(Pinned { before: None });
        }
        let before = allowed_cpus().map_err(|e| not_pinned(cpus, &e))?;
        if before == cpus {
            return Ok(Pinned { before: None });
        }
        pin_to(cpus).map_err(|e| not_pinned(cpus, &e))?;
        Ok(Pinned { before: Some(before) })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Unless those CPUs were taken away in the meantime: then it stays.
            let _ = pin_to(before);
        }
    }
}

pub(crate) fn spawn<'s, 'e, T: Send + 's>(
    scope: &'s Scope<'s, 'e>,
    work: impl FnOnce() -> T + Send + 's,
) -> Result<ScopedJoinHandle<'s, T>, Reason> {
    let started = sys::thread::spawn_scoped(scope, thread::Builder::new(), work);
    started.map_err(|e| Reason::not_started("threads", &e))
}

/// Waits for the end of a thread that is called so.
pub(crate) fn join<T>(handle: ScopedJoinHandle<'_, T>, whose: &'static str) -> Result<T, Reason> {
    handle.join().map_err(|_| Reason::Panicked(whose))
}

/// Does work on a new thread that may use all of these CPUs, as may the
/// threads that it starts: the measuring thread stays pinned, and waits.
pub(crate) fn on_free_thread<R: Send>(
    cpus: &[u32],
    work: impl FnOnce() -> Result<R, Reason> + Send,
) -> Result<R, Reason> {
    thread::scope(|scope| {
        let free = spawn(scope, || {
            run_on(cpus)?;
            work()
        })?;
        join(free, "the measuring thread")?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, small_machine};

    #[test]
    fn stamps_keep_their_sign() {
        assert_eq!(apart(100, 107), (0, 7));
        assert_eq!(apart(107, 100), (7, 0));
        assert_eq!(apart(u64::MAX, 4), (0, 5), "a counter may wrap");
        assert_eq!(apart(9, 9), (0, 0));
        let backward = event(140, 100, 2, 1);
        assert_eq!((backward.from_ticks, backward.to_ticks), (40, 0));
        assert_eq!((backward.ops, backward.mode), (2, 1));
    }

    #[test]
    fn one_cpu_is_a_reason() {
        let of = |cpus: &[u32]| alone(&MachineShape { cpus: cpus.to_vec(), ..small_machine() });
        assert_eq!(of(&[3]).as_deref(), Some("only one CPU may be used"));
        assert_eq!(of(&[3, 4]), None);
    }

    #[test]
    fn a_free_thread_may_use_all_and_its_starter_stays() {
        let cpus = cpus();
        if cpus.is_empty() {
            return;
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                pin_to(&cpus[..1]).expect("one of ours");
                let seen = on_free_thread(&cpus, || {
                    let inherited = thread::spawn(sys::allowed_cpus).join();
                    Ok((sys::allowed_cpus(), inherited))
                });
                let (own, inherited) = seen.expect("a thread");
                assert_eq!(own.expect("a set"), cpus);
                assert_eq!(inherited.expect("a thread").expect("a set"), cpus);
                assert_eq!(sys::allowed_cpus().expect("a set"), cpus[..1]);
            });
        });
        let reason = on_free_thread(&[8191], || Ok(()));
        assert!(
            matches!(reason, Err(Reason::NotPinned { ref cpus, .. }) if *cpus == [8191]),
            "{reason:?}"
        );
    }

    #[test]
    fn a_pinned_thread_goes_back() {
        let before = cpus();
        if before.is_empty() {
            return;
        }
        let here = Pinned::to(&before[..1]).expect("the first CPU");
        assert_eq!(cpus(), before[..1]);
        drop(here);
        assert_eq!(cpus(), before);
        drop(Pinned::to(&before).expect("where it is"));
        drop(Pinned::to(&[]).expect("nowhere"));
        assert_eq!(cpus(), before);
    }
}
