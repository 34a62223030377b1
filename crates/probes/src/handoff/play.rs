//! One visit of a pair: its threads are started, hand over, and are joined,
//! whatever happens.

use super::placement::Sets;
use super::plan::{HandoffPlan, Waiting};
use super::token::{Means, Side, mode, with_busy_cpus};
use crate::engine::reason::Reason;
use crate::engine::switches::{since, sum};
use crate::engine::threads::{Pinned, join, own_id, spawn};
use crate::engine::waits::{IdleEntries, NoneRan, ThreadsWait, Waits};
use meter::probe::WorkStep;
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
    /// What both waited during the stamped ones.
    pub(super) waited: Option<ThreadsWait>,
    /// What both threads did, if that was asked for.
    pub(super) steps: Vec<WorkStep>,
}

struct PartnerReport {
    steps: Vec<WorkStep>,
    /// The CPUs of each event: where the thread gave and where it took. The
    /// second thread does both in one place.
    cpus: Vec<(Option<u32>, Option<u32>)>,
    switches: Option<Switches>,
    /// What it waited for a CPU since just before the last round trip that warms up, ns.
    waited_ns: Option<u64>,
    /// How often its CPU went idle since then, if it stayed there.
    went_idle: Option<u64>,
}

/// Why a thread ended early.
enum VisitEnd {
    /// The other one did, or was too late.
    Abandoned,
    /// Its own reason.
    Failed(Reason),
}

/// The means, and whether the pair is over before its time.
struct PairTable<'m, M: Means> {
    means: &'m M,
    over: AtomicBool,
}

impl<M: Means> PairTable<'_, M> {
    fn give(&self, from: Side) -> Result<(), VisitEnd> {
        self.checked("handing the token over", self.means.give(from))
    }

    fn take(&self, at: Side) -> Result<(), VisitEnd> {
        self.checked("waiting for the token", self.means.take(at))
    }

    /// What happens once the pair is over does not count, error or not.
    fn checked(&self, what: &str, done: io::Result<()>) -> Result<(), VisitEnd> {
        if self.over.load(Ordering::Acquire) {
            return Err(VisitEnd::Abandoned);
        }
        done.map_err(|e| VisitEnd::Failed(Reason::call(format!("{what} failed"), &e)))
    }

    fn abandon(&self) {
        self.over.store(true, Ordering::Release);
        self.means.abandon();
    }
}

/// Abandons the pair when its thread ends by an error or a panic, so that the
/// other one never waits for it.
struct Leaving<'t, 'm, M: Means> {
    table: &'t PairTable<'m, M>,
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
    plan: &HandoffPlan,
    sets: &Sets,
    events: u32,
    patience: Duration,
    with_steps: bool,
) -> Result<Visit, Reason> {
    let table = &PairTable { means, over: AtomicBool::new(false) };
    let _here = Pinned::to(&sets[Side::First as usize])?;
    let (done, running) = mpsc::channel::<()>();
    let (first, second, late) = thread::scope(|scope| {
        // Dropped before the scope waits for its threads.
        let mut leaving = Leaving { table, orderly: false };
        let (placed, is_placed) = mpsc::channel::<()>();
        let second = spawn(scope, || match with_steps {
            true => second_thread::<M, true>(table, sets, plan, events, placed),
            false => second_thread::<M, false>(table, sets, plan, events, placed),
        })?;
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
        let first = match with_steps {
            true => first_thread::<M, true>(table, plan, events),
            false => first_thread::<M, false>(table, plan, events),
        };
        leaving.orderly = first.is_ok();
        drop(leaving);
        let second = join(second, "the second thread").unwrap_or_else(|e| Err(VisitEnd::Failed(e)));
        drop(done);
        Ok::<_, Reason>((first, second, watchdog.join().unwrap_or(false)))
    })?;
    let reason = |end| match end {
        VisitEnd::Failed(reason) => reason,
        VisitEnd::Abandoned if late => {
            Reason::TimedOut { what: "the other thread did not answer".into(), patience }
        }
        VisitEnd::Abandoned => Reason::wrong("the other thread ended early"),
    };
    let ((stamps, none_ran, first), second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        // Its own reason says more than that the other one had one.
        (Err(end @ VisitEnd::Failed(_)), _) | (_, Err(end)) | (Err(end), _) => {
            return Err(reason(end));
        }
    };
    let modes = first.cpus.iter().zip(&second.cpus);
    let modes = modes.map(|(&(gave, took), &(partner, _))| Some(mode(gave?, partner?, took?)));
    let modes: Option<Vec<u8>> = modes.collect();
    let went_idle = first.went_idle.zip(second.went_idle).map(|(first, second)| first.min(second));
    let modes = modes.map(|modes| match went_idle {
        Some(went_idle) => with_busy_cpus(modes, plan.trips_per_event, went_idle),
        None => modes,
    });
    let runnable_ns = first.waited_ns.zip(second.waited_ns).map(|(first, second)| first + second);
    let waited = runnable_ns.zip(none_ran);
    let steps = [first.steps, second.steps].concat();
    Ok(Visit {
        stamps,
        modes,
        switches: sum([first.switches, second.switches]),
        waited: waited.map(|(runnable_ns, (none_ran_ns, wall_ns))| ThreadsWait {
            runnable_ns,
            least_ns: runnable_ns,
            none_ran_ns,
            wall_ns,
        }),
        steps,
    })
}

type Stamps = Vec<(u64, u64)>;

/// Time in which no thread of the process ran, and of how long, ns.
type IdleTime = Option<(u64, u64)>;

/// What a thread does, stamped where that is asked for: else nothing is added to it.
struct Stepping<const STEPS: bool> {
    counter: Counter,
    thread: u32,
    steps: Vec<WorkStep>,
}

impl<const STEPS: bool> Stepping<STEPS> {
    fn new() -> Stepping<STEPS> {
        let thread = if STEPS { sys::thread::current_id().unwrap_or(0) } else { 0 };
        Stepping { counter: Counter::best(), thread, steps: Vec::new() }
    }

    #[inline(always)]
    fn step<T>(&mut self, name: &'static str, does: impl FnOnce() -> T) -> T {
        if !STEPS {
            return does();
        }
        let from_ticks = self.counter.start();
        let done = does();
        let to_ticks = self.counter.stop();
        self.steps.push(WorkStep { name, from_ticks, to_ticks, thread: self.thread });
        done
    }
}

/// How often the calling thread's CPU goes idle, of a pair whose threads sleep once per round trip.
fn idle_entries(plan: &HandoffPlan) -> Option<IdleEntries> {
    let sleeps = matches!(plan.waiting, Waiting::Sleeps | Waiting::SleepsStirred);
    sleeps.then(IdleEntries::begin).flatten()
}

const POST: &str = "post";
const WAIT: &str = "wait";

fn first_thread<M: Means, const STEPS: bool>(
    table: &PairTable<M>,
    plan: &HandoffPlan,
    events: u32,
) -> Result<(Stamps, IdleTime, PartnerReport), VisitEnd> {
    let counter = Counter::best();
    let mut stepping = Stepping::<STEPS>::new();
    let mut stamps = Vec::with_capacity(events as usize);
    let mut cpus = Vec::with_capacity(events as usize);
    let before = thread_switches();
    for _ in 1..plan.warm_up {
        table.give(Side::First)?;
        table.take(Side::First)?;
    }
    let (waits, none_ran) = (Waits::of_thread(own_id()), NoneRan::begin());
    let idle = idle_entries(plan);
    // The last of them: both threads have asked the kernel.
    if plan.warm_up > 0 {
        table.give(Side::First)?;
        table.take(Side::First)?;
    }
    for _ in 0..events {
        let gave = current_cpu();
        let from = counter.start();
        for _ in 0..plan.trips_per_event {
            stepping.step(POST, || table.give(Side::First))?;
            stepping.step(WAIT, || table.take(Side::First))?;
        }
        let to = counter.stop();
        cpus.push((gave, current_cpu()));
        stamps.push((from, to));
    }
    let switches = since(before);
    let none_ran = none_ran.and_then(|none_ran| none_ran.until_now());
    let waited_ns = waits.and_then(|waits| Some(waits.until_now()?.0));
    let went_idle = idle.and_then(IdleEntries::until_now);
    let steps = stepping.steps;
    Ok((stamps, none_ran, PartnerReport { cpus, switches, waited_ns, went_idle, steps }))
}

fn second_thread<M: Means, const STEPS: bool>(
    table: &PairTable<M>,
    sets: &Sets,
    plan: &HandoffPlan,
    events: u32,
    placed: mpsc::Sender<()>,
) -> Result<PartnerReport, VisitEnd> {
    let mut leaving = Leaving { table, orderly: false };
    let _here = Pinned::to(&sets[Side::Second as usize]).map_err(VisitEnd::Failed)?;
    drop(placed);
    let mut stepping = Stepping::<STEPS>::new();
    let mut cpus = Vec::with_capacity(events as usize);
    let before = thread_switches();
    for _ in 1..plan.warm_up {
        table.take(Side::Second)?;
        table.give(Side::Second)?;
    }
    let waits = Waits::of_thread(own_id());
    let idle = idle_entries(plan);
    if plan.warm_up > 0 {
        table.take(Side::Second)?;
        table.give(Side::Second)?;
    }
    for _ in 0..events {
        for _ in 1..plan.trips_per_event {
            stepping.step(WAIT, || table.take(Side::Second))?;
            stepping.step(POST, || table.give(Side::Second))?;
        }
        stepping.step(WAIT, || table.take(Side::Second))?;
        let cpu = current_cpu();
        stepping.step(POST, || table.give(Side::Second))?;
        cpus.push((cpu, cpu));
    }
    let switches = since(before);
    let waited_ns = waits.and_then(|waits| Some(waits.until_now()?.0));
    let went_idle = idle.and_then(IdleEntries::until_now);
    leaving.orderly = true;
    Ok(PartnerReport { cpus, switches, waited_ns, went_idle, steps: stepping.steps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::small_machine;
    use crate::handoff::means::Lanes;
    use crate::handoff::pair::{PATIENCE, Pair};
    use crate::handoff::placement::Placement;
    use meter::probe::Work;
    use std::sync::atomic::AtomicU32;
    use std::time::Instant;
    use sys::semaphore::Semaphore;

    fn semaphores() -> Lanes<Semaphore> {
        Lanes::new("a semaphore", || Semaphore::new(0)).expect("semaphores")
    }

    /// What a partner does when its turn has come the third time.
    enum PartnerFault {
        Errs,
        Panics,
        StaysSilent,
    }

    struct Faulty {
        semaphores: Lanes<Semaphore>,
        fault: PartnerFault,
        taken: AtomicU32,
    }

    impl Means for Faulty {
        fn give(&self, from: Side) -> io::Result<()> {
            let silent = matches!(self.fault, PartnerFault::StaysSilent);
            if silent && from == Side::Second && self.taken.load(Ordering::Relaxed) == 3 {
                return Ok(());
            }
            self.semaphores.give(from)
        }
        fn take(&self, at: Side) -> io::Result<()> {
            self.semaphores.take(at)?;
            if at == Side::Second && self.taken.fetch_add(1, Ordering::Relaxed) == 2 {
                match self.fault {
                    PartnerFault::Errs => return Err(io::Error::other("the line is dead")),
                    PartnerFault::Panics => panic!("on purpose"),
                    PartnerFault::StaysSilent => {}
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
    fn reason(fault: PartnerFault, patience: Duration) -> String {
        let faulty = Faulty { semaphores: semaphores(), fault, taken: AtomicU32::new(0) };
        let plan = HandoffPlan::round_trips(Placement::Free, Waiting::Sleeps);
        let mut pair = Pair::new(faulty, plan, &small_machine())
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
        assert_eq!(reason(PartnerFault::Errs, long), failed);
        let panicked = Reason::Panicked("the second thread").to_string();
        assert_eq!(reason(PartnerFault::Panics, long), panicked);
        assert!(begin.elapsed() < long, "by the partner's end");
        assert_eq!(
            reason(PartnerFault::StaysSilent, Duration::from_millis(100)),
            "the other thread did not answer within 0.1 s"
        );
    }

    #[test]
    fn a_second_thread_that_cannot_be_placed_is_the_reason() {
        let plan = HandoffPlan::round_trips(Placement::Free, Waiting::Sleeps);
        let mut pair =
            Pair::new(semaphores(), plan, &small_machine()).expect("threads can be placed");
        pair.sets[1] = vec![8000];
        let reason = pair.stamped(1).expect_err("there is no such CPU").to_string();
        assert!(reason.starts_with("can't run a thread on CPU 8000"), "{reason}");
    }
}
