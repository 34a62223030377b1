//! One visit of a pair: its threads are started, hand over, and are joined,
//! whatever happens.

use super::placement::Sets;
use super::plan::Plan;
use super::token::{Means, Side, mode};
use crate::engine::reason::Reason;
use crate::engine::switches::{since, sum};
use crate::engine::threads::{Pinned, join, spawn};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use sys::affinity::current_cpu;
use sys::clock::Counter;
use sys::evidence::{Switches, thread_switches};

pub(super) struct Visit {
    /// Ticks before and after each event.
    pub(super) stamps: Vec<(u64, u64)>,
    /// The mode of each; none where the system doesn't report CPUs.
    pub(super) modes: Option<Vec<u8>>,
    /// Context switches of both threads over all round trips.
    pub(super) switches: Option<Switches>,
}

struct Report {
    /// The CPUs of each event: where the thread gave and where it took. The
    /// second thread does both in one place.
    cpus: Vec<(Option<u32>, Option<u32>)>,
    switches: Option<Switches>,
}

/// Why a thread ended early.
enum End {
    /// The other one did, or was too late.
    Abandoned,
    /// Its own reason.
    Failed(Reason),
}

/// The means, and whether the pair is over before its time.
struct Table<'m, M: Means> {
    means: &'m M,
    over: AtomicBool,
}

impl<M: Means> Table<'_, M> {
    fn give(&self, from: Side) -> Result<(), End> {
        self.checked("handing the token over", self.means.give(from))
    }

    fn take(&self, at: Side) -> Result<(), End> {
        self.checked("waiting for the token", self.means.take(at))
    }

    /// What happens once the pair is over does not count, error or not.
    fn checked(&self, what: &str, done: io::Result<()>) -> Result<(), End> {
        if self.over.load(Ordering::Acquire) {
            return Err(End::Abandoned);
        }
        done.map_err(|e| End::Failed(Reason::call(format!("{what} failed"), &e)))
    }

    fn abandon(&self) {
        self.over.store(true, Ordering::Release);
        self.means.abandon();
    }
}

/// Abandons the pair when its thread ends by an error or a panic, so that the
/// other one never waits for it.
struct Leaving<'t, 'm, M: Means> {
    table: &'t Table<'m, M>,
    orderly: bool,
}

impl<M: Means> Drop for Leaving<'_, '_, M> {
    fn drop(&mut self) {
        if !self.orderly {
            self.table.abandon();
        }
    }
}

/// One visit: both threads started and joined, whatever happens.
pub(super) fn play<M: Means>(
    means: &M,
    plan: &Plan,
    sets: &Sets,
    events: u32,
    patience: Duration,
) -> Result<Visit, Reason> {
    let table = &Table { means, over: AtomicBool::new(false) };
    let _here = Pinned::to(&sets[Side::First as usize])?;
    let (done, running) = mpsc::channel::<()>();
    let (first, second, late) = thread::scope(|scope| {
        // Dropped before the scope waits for its threads.
        let mut leaving = Leaving { table, orderly: false };
        let (placed, is_placed) = mpsc::channel::<()>();
        let second = spawn(scope, || second_thread(table, sets, plan, events, placed))?;
        // Timeouts on the waits themselves would be a part of what is
        // measured; a third thread that sleeps is not.
        let watchdog = spawn(scope, move || {
            let late = running.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
            if late {
                table.abandon();
            }
            late
        })?;
        // It begins on this thread's CPU, where it might never run once this one spins.
        let _ = is_placed.recv();
        let first = first_thread(table, plan, events);
        leaving.orderly = first.is_ok();
        drop(leaving);
        let second = join(second, "the second thread").unwrap_or_else(|e| Err(End::Failed(e)));
        drop(done);
        Ok::<_, Reason>((first, second, watchdog.join().unwrap_or(false)))
    })?;
    let reason = |end| match end {
        End::Failed(reason) => reason,
        End::Abandoned if late => {
            Reason::TimedOut { what: "the other thread did not answer".into(), patience }
        }
        End::Abandoned => Reason::wrong("the other thread ended early"),
    };
    let ((stamps, first), second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        // Its own reason says more than that the other one had one.
        (Err(end @ End::Failed(_)), _) | (_, Err(end)) | (Err(end), _) => return Err(reason(end)),
    };
    let modes = first.cpus.iter().zip(&second.cpus);
    let modes = modes.map(|(&(gave, took), &(partner, _))| Some(mode(gave?, partner?, took?)));
    Ok(Visit { stamps, modes: modes.collect(), switches: sum([first.switches, second.switches]) })
}

type Stamps = Vec<(u64, u64)>;

fn first_thread<M: Means>(
    table: &Table<M>,
    plan: &Plan,
    events: u32,
) -> Result<(Stamps, Report), End> {
    let counter = Counter::best();
    let mut stamps = Vec::with_capacity(events as usize);
    let mut cpus = Vec::with_capacity(events as usize);
    let before = thread_switches();
    for _ in 0..plan.warm_up {
        table.give(Side::First)?;
        table.take(Side::First)?;
    }
    for _ in 0..events {
        let gave = current_cpu();
        let from = counter.start();
        for _ in 0..plan.trips_per_event {
            table.give(Side::First)?;
            table.take(Side::First)?;
        }
        let to = counter.stop();
        cpus.push((gave, current_cpu()));
        stamps.push((from, to));
    }
    let switches = since(before);
    Ok((stamps, Report { cpus, switches }))
}

fn second_thread<M: Means>(
    table: &Table<M>,
    sets: &Sets,
    plan: &Plan,
    events: u32,
    placed: mpsc::Sender<()>,
) -> Result<Report, End> {
    let mut leaving = Leaving { table, orderly: false };
    let _here = Pinned::to(&sets[Side::Second as usize]).map_err(End::Failed)?;
    drop(placed);
    let mut cpus = Vec::with_capacity(events as usize);
    let before = thread_switches();
    for _ in 0..plan.warm_up {
        table.take(Side::Second)?;
        table.give(Side::Second)?;
    }
    for _ in 0..events {
        for _ in 1..plan.trips_per_event {
            table.take(Side::Second)?;
            table.give(Side::Second)?;
        }
        table.take(Side::Second)?;
        let cpu = current_cpu();
        table.give(Side::Second)?;
        cpus.push((cpu, cpu));
    }
    let switches = since(before);
    leaving.orderly = true;
    Ok(Report { cpus, switches })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::machine;
    use crate::handoff::means::Lanes;
    use crate::handoff::pair::{PATIENCE, Pair};
    use crate::handoff::placement::Placement;
    use crate::handoff::plan::Waiting;
    use meter::probe::Work;
    use std::sync::atomic::AtomicU32;
    use std::time::Instant;
    use sys::semaphore::Semaphore;

    fn semaphores() -> Lanes<Semaphore> {
        Lanes::new("a semaphore", || Semaphore::new(0)).expect("semaphores")
    }

    /// What a partner does when its turn has come the third time.
    enum Fault {
        Errs,
        Panics,
        StaysSilent,
    }

    struct Faulty {
        semaphores: Lanes<Semaphore>,
        fault: Fault,
        taken: AtomicU32,
    }

    impl Means for Faulty {
        fn give(&self, from: Side) -> io::Result<()> {
            let silent = matches!(self.fault, Fault::StaysSilent);
            if silent && from == Side::Second && self.taken.load(Ordering::Relaxed) == 3 {
                return Ok(());
            }
            self.semaphores.give(from)
        }
        fn take(&self, at: Side) -> io::Result<()> {
            self.semaphores.take(at)?;
            if at == Side::Second && self.taken.fetch_add(1, Ordering::Relaxed) == 2 {
                match self.fault {
                    Fault::Errs => return Err(io::Error::other("the line is dead")),
                    Fault::Panics => panic!("on purpose"),
                    Fault::StaysSilent => {}
                }
            }
            Ok(())
        }
        fn abandon(&self) {
            self.semaphores.abandon();
        }
    }

    /// The reason that a visit with such a partner gives. That it comes back
    /// at all is half of the test.
    fn reason(fault: Fault, patience: Duration) -> String {
        let faulty = Faulty { semaphores: semaphores(), fault, taken: AtomicU32::new(0) };
        let plan = Plan::round_trips(Placement::Free, Waiting::Sleeps);
        let mut pair = Pair::new(faulty, plan, &machine())
            .expect("threads can be placed")
            .with_patience(patience);
        let reason = pair.stamped(10).expect_err("it can't have gone well");
        assert_eq!(pair.contradiction(), None, "nothing was seen");
        reason.to_string()
    }

    #[test]
    fn a_partner_that_fails_is_no_hang_and_says_why() {
        let begin = Instant::now();
        let long = 60 * PATIENCE;
        let failed = "waiting for the token failed: the line is dead";
        assert_eq!(reason(Fault::Errs, long), failed);
        let panicked = Reason::Panicked("the second thread").to_string();
        assert_eq!(reason(Fault::Panics, long), panicked);
        assert!(begin.elapsed() < long, "by the partner's end");
        assert_eq!(
            reason(Fault::StaysSilent, Duration::from_millis(100)),
            "the other thread did not answer within 0.1 s"
        );
    }

    #[test]
    fn a_second_thread_that_cannot_be_placed_is_the_reason() {
        let plan = Plan::round_trips(Placement::Free, Waiting::Sleeps);
        let mut pair = Pair::new(semaphores(), plan, &machine()).expect("threads can be placed");
        pair.sets[1] = vec![8000];
        let reason = pair.stamped(1).expect_err("there is no such CPU").to_string();
        assert!(reason.starts_with("can't run a thread on CPU 8000"), "{reason}");
    }
}
