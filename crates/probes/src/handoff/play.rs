//! One visit of a pair: its threads are started, hand over, and are joined,
//! whatever happens.

use super::modes::mode;
use super::pair::{Manner, Means, Side};
use super::placement::{Pinned, Sets};
use crate::across::not_started;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use sys::affinity::current_cpu;
use sys::clock::Counter;
use sys::evidence::{Switches, thread_switches};

/// What came of a visit.
pub(super) struct Found {
    /// Ticks before and after each event.
    pub(super) stamps: Vec<(u64, u64)>,
    /// The mode of each; none where the system doesn't tell CPUs.
    pub(super) modes: Option<Vec<u8>>,
    /// Context switches of both threads over all round trips.
    pub(super) switches: Option<Switches>,
}

/// What a thread comes back with.
struct Report {
    /// The CPUs of each event: where the thread gave and where it took. The
    /// second thread does both in one place.
    cpus: Vec<(Option<u32>, Option<u32>)>,
    switches: Option<Switches>,
}

/// Why a thread ended early.
enum End {
    /// Somebody else did.
    Abandoned,
    /// A reason of its own.
    Failed(String),
}

/// The means, and whether the pair is over before its time.
struct Table<'m, M: Means> {
    means: &'m M,
    over: AtomicBool,
}

impl<M: Means> Table<'_, M> {
    fn give(&self, from: Side) -> Result<(), End> {
        self.checked("handing over", self.means.give(from))
    }

    fn take(&self, at: Side) -> Result<(), End> {
        self.checked("waiting", self.means.take(at))
    }

    /// What happens once the pair is over is no news, error or not.
    fn checked(&self, what: &str, done: io::Result<()>) -> Result<(), End> {
        if self.over.load(Ordering::Acquire) {
            return Err(End::Abandoned);
        }
        done.map_err(|e| End::Failed(format!("{what} failed: {e}")))
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
    manner: &Manner,
    sets: &Sets,
    events: u32,
    patience: Duration,
) -> Result<Found, String> {
    let table = &Table {
        means,
        over: AtomicBool::new(false),
    };
    let _here = Pinned::to(sets.of(Side::First))?;
    let (done, running) = mpsc::channel::<()>();
    let (first, second, late) = thread::scope(|scope| {
        // Dropped before the scope waits for its threads.
        let mut leaving = Leaving {
            table,
            orderly: false,
        };
        let second = thread::Builder::new()
            .spawn_scoped(scope, || second_thread(table, sets, manner, events))
            .map_err(|e| not_started(&e))?;
        // Timeouts on the waits themselves would be a part of what is
        // measured; a third thread that sleeps is not.
        let watchdog = thread::Builder::new()
            .spawn_scoped(scope, move || {
                let late = running.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
                if late {
                    table.abandon();
                }
                late
            })
            .map_err(|e| not_started(&e))?;
        let first = first_thread(table, manner, events);
        leaving.orderly = first.is_ok();
        drop(leaving);
        let second = second
            .join()
            .unwrap_or_else(|_| Err(End::Failed("it panicked".into())));
        drop(done);
        Ok::<_, String>((first, second, watchdog.join().unwrap_or(false)))
    })?;
    let reason = |who: &str, end| match end {
        End::Failed(reason) => format!("{who} gave up: {reason}"),
        End::Abandoned if late => format!(
            "no answer from the other thread within {} s",
            patience.as_secs_f64()
        ),
        End::Abandoned => "the other thread ended early".into(),
    };
    let ((stamps, first), second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        // A reason of its own says more than that somebody else had one.
        (Err(End::Failed(why)), _) => return Err(reason("the first thread", End::Failed(why))),
        (_, Err(end)) => return Err(reason("the second thread", end)),
        (Err(end), _) => return Err(reason("the first thread", end)),
    };
    let modes = first.cpus.iter().zip(&second.cpus);
    let modes = modes.map(|(&(gave, took), &(partner, _))| Some(mode(gave?, partner?, took?)));
    Ok(Found {
        stamps,
        modes: modes.collect(),
        switches: first.switches.zip(second.switches).map(|(a, b)| Switches {
            voluntary: a.voluntary + b.voluntary,
            involuntary: a.involuntary + b.involuntary,
        }),
    })
}

type Stamps = Vec<(u64, u64)>;

fn first_thread<M: Means>(
    table: &Table<M>,
    manner: &Manner,
    events: u32,
) -> Result<(Stamps, Report), End> {
    let counter = Counter::best();
    let mut stamps = Vec::with_capacity(events as usize);
    let mut cpus = Vec::with_capacity(events as usize);
    let before = thread_switches();
    for _ in 0..manner.warm_up {
        table.give(Side::First)?;
        table.take(Side::First)?;
    }
    for _ in 0..events {
        let gave = current_cpu();
        let from = counter.start();
        for _ in 0..manner.trips_per_event {
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
    manner: &Manner,
    events: u32,
) -> Result<Report, End> {
    let mut leaving = Leaving {
        table,
        orderly: false,
    };
    let _here = Pinned::to(sets.of(Side::Second)).map_err(End::Failed)?;
    let mut cpus = Vec::with_capacity(events as usize);
    let before = thread_switches();
    for _ in 0..manner.warm_up {
        table.take(Side::Second)?;
        table.give(Side::Second)?;
    }
    for _ in 0..events {
        for _ in 1..manner.trips_per_event {
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

/// Switches of this thread since an earlier reading.
fn since(before: Option<Switches>) -> Option<Switches> {
    let (before, now) = (before?, thread_switches()?);
    Some(Switches {
        voluntary: now.voluntary.saturating_sub(before.voluntary),
        involuntary: now.involuntary.saturating_sub(before.involuntary),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::means::Semaphores;
    use crate::handoff::pair::{PATIENCE, Pair};
    use crate::handoff::placement::Placement;
    use crate::handoff::switches::Waiting;
    use crate::handoff::testing::{manner, terrain};
    use meter::probe::Work;
    use std::time::Instant;

    /// What a partner does when its turn has come the third time.
    enum Fault {
        Errs,
        Panics,
        StaysSilent,
    }

    struct Faulty {
        semaphores: Semaphores,
        fault: Fault,
        taken: std::sync::atomic::AtomicU32,
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
        let faulty = Faulty {
            semaphores: Semaphores::new().expect("semaphores"),
            fault,
            taken: std::sync::atomic::AtomicU32::new(0),
        };
        let manner = manner(Placement::Free, Waiting::Sleeps);
        let mut pair = Pair::new(faulty, manner, &terrain())
            .expect("threads can be placed")
            .with_patience(patience);
        let reason = pair.stamped(10).expect_err("it can't have gone well");
        assert_eq!(pair.contradiction(), None, "nothing was seen");
        reason
    }

    #[test]
    fn a_partner_that_fails_is_no_hang_and_says_why() {
        let begin = Instant::now();
        assert_eq!(
            reason(Fault::Errs, PATIENCE),
            "the second thread gave up: waiting failed: the line is dead"
        );
        assert_eq!(
            reason(Fault::Panics, PATIENCE),
            "the second thread gave up: it panicked"
        );
        assert!(begin.elapsed() < PATIENCE, "told by the partner's end");
    }

    #[test]
    fn a_partner_that_never_answers_is_given_up() {
        assert_eq!(
            reason(Fault::StaysSilent, Duration::from_millis(100)),
            "no answer from the other thread within 0.1 s"
        );
    }

    #[test]
    fn a_second_thread_that_cannot_be_placed_is_told() {
        let pair = Pair::new(
            Semaphores::new().expect("semaphores"),
            manner(Placement::Free, Waiting::Sleeps),
            &terrain(),
        );
        let mut pair = pair.expect("threads can be placed");
        pair.sets.by_side[1] = vec![8000];
        let reason = pair.stamped(1).expect_err("there is no such CPU");
        assert!(
            reason.starts_with("the second thread gave up: a thread can't be put on CPU 8000"),
            "{reason}"
        );
    }
}
