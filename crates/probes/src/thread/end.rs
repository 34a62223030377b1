//! When a thread is gone: the kernel's word, not the join's.
//!
//! The joining thread sleeps until the kernel wakes it, so it can't see the
//! moment itself, and to let it watch instead of sleep would measure another
//! join. What is left, the least intrusive first:
//!
//! 1. The kernel's exit record (`perf_event_open`) for all threads of the
//!    machine. Costs the thread nothing; needs CAP_PERFMON, which root has.
//! 2. The same record, inherited by each new thread from its creator: allowed
//!    to all users by the kernel's own default, though not by every
//!    distribution's. Costs each thread some µs per allowed CPU.
//! 3. An observer that asks for the thread (`tgkill` with signal 0) without
//!    pause, on a CPU that it keeps for itself: one that did other work too
//!    would be where the threads measured want to run, and wake its CPU for
//!    them.

use crate::engine::reason::{Doing, Reason};
use crate::engine::threads::run_on;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use sys::clock::{Counter, monotonic_raw_ns};
use sys::task_records::{TaskEvent, TaskRecord, TaskRecords};
use sys::thread::{current_id, exists};

/// How long the kernel's word on one thread is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// More CPUs than this, and an observer costs the thread less than records
/// that it inherits for each.
const FEW_CPUS: usize = 4;

/// How a thread's end is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By the exit records of the whole machine.
    MachineRecords,
    /// By the exit records of the creator's own threads.
    OwnRecords,
    /// By an observer on this CPU.
    Observer(u32),
    /// Not at all.
    Unseen,
}

impl Way {
    /// The least intrusive way that works here.
    pub(super) fn find(cpus: &[u32]) -> Result<Way, Reason> {
        let refused = match TaskRecords::of_machine(cpus) {
            Ok(_) => return Ok(Way::MachineRecords),
            Err(e) => e,
        };
        let observer = match cpus {
            [_, .., last] if current_id().is_some() => Some(Way::Observer(*last)),
            _ => None,
        };
        if refused.kind() == ErrorKind::Unsupported && observer.is_none() {
            return Err(Reason::missing(format!(
                "the end of a thread can't be observed: {refused}, nor a call to ask for another thread"
            )));
        }
        if cpus.len() > FEW_CPUS
            && let Some(observer) = observer
        {
            return Ok(observer);
        }
        if TaskRecords::of_own_threads(cpus).is_ok() {
            return Ok(Way::OwnRecords);
        }
        observer.ok_or_else(|| {
            Reason::missing(format!("the end of a thread can't be observed: perf_event_open is refused ({refused}; kernel.perf_event_paranoid at most 2 would allow it), and polling for it takes a second CPU"))
        })
    }

    /// The CPUs that are left for the threads measured.
    pub(super) fn left(self, cpus: &[u32]) -> Vec<u32> {
        let mut left = cpus.to_vec();
        if let Way::Observer(own) = self {
            left.retain(|&cpu| cpu != own);
        }
        left
    }

    /// For the reader.
    pub(super) fn note(self) -> String {
        let how = match self {
            Way::MachineRecords => "the kernel's exit record, of all threads of the machine".into(),
            Way::OwnRecords => "the kernel's exit record, inherited by each thread, which lengthens the creation, end and join of the threads that are stamped inside by some µs in all; the threads of /overhead have none; with CAP_PERFMON (root) it would cost them nothing".into(),
            Way::Observer(cpu) => format!("watched for by tgkill from CPU {cpu}, which no other thread of this row may use, until the kernel knows no such thread, some µs later than its exit record, so that end is that much longer and join shorter; where perf_event_open is allowed (root, or kernel.perf_event_paranoid at most 2) the record would do without an observer"),
            Way::Unseen => "not observed; /parts holds end and join together".into(),
        };
        format!("the thread's end: {how}")
    }
}

/// Gives the moment of the end of each thread that the calling thread creates.
pub(super) enum Witness<'o> {
    /// Reads the kernel's records.
    Records {
        records: TaskRecords,
        creator: u32,
        counter: Counter,
        ns_per_tick: f64,
        taken: Vec<TaskRecord>,
    },
    /// Asks the observer.
    Observer(&'o Observer),
    /// Sees nothing.
    Unseen,
}

impl<'o> Witness<'o> {
    /// A witness for threads that the calling thread will create on these
    /// CPUs.
    pub(super) fn new(
        way: Way,
        cpus: &[u32],
        counter: Counter,
        ns_per_tick: f64,
        observer: &'o Observer,
    ) -> Result<Witness<'o>, Reason> {
        let records = match way {
            Way::MachineRecords => TaskRecords::of_machine(cpus),
            Way::OwnRecords => TaskRecords::of_own_threads(cpus),
            Way::Observer(_) => return Ok(Witness::Observer(observer)),
            Way::Unseen => return Ok(Witness::Unseen),
        };
        Ok(Witness::Records {
            records: records.doing("the kernel's exit records")?,
            creator: current_id().ok_or(Reason::missing("this system does not number threads"))?,
            counter,
            ns_per_tick,
            taken: Vec::new(),
        })
    }

    /// When the last thread that was created and joined ended, in ticks;
    /// `None` if that was not recorded, or it sees nothing.
    pub(super) fn end_of_last(&mut self) -> Result<Option<u64>, Reason> {
        match self {
            Witness::Observer(observer) => observer.end_of_last().map(Some),
            Witness::Unseen => Ok(None),
            Witness::Records { records, creator, counter, ns_per_tick, taken } => {
                taken.clear();
                let began = Instant::now();
                loop {
                    records.take_records(taken);
                    if let Some(at_ns) = end_in(taken, *creator) {
                        return Ok(Some(in_ticks(at_ns, *counter, *ns_per_tick)));
                    }
                    if began.elapsed() > PATIENCE {
                        return Ok(None);
                    }
                    // Joined, but still on its way out, and perhaps waiting
                    // for this very CPU.
                    thread::sleep(Duration::from_micros(50));
                }
            }
        }
    }
}

/// The end of the last thread that this creator created.
fn end_in(records: &[TaskRecord], creator: u32) -> Option<u64> {
    let created = records.iter().rfind(|r| r.what == TaskEvent::CreatedBy(creator))?;
    records
        .iter()
        .find(|r| {
            r.what == TaskEvent::Ended && r.thread == created.thread && r.at_ns >= created.at_ns
        })
        .map(|r| r.at_ns)
}

/// A moment of CLOCK_MONOTONIC_RAW, not long ago, on the counter.
fn in_ticks(at_ns: u64, counter: Counter, ns_per_tick: f64) -> u64 {
    let anchor = (0..4)
        .map(|_| {
            let before_ns = monotonic_raw_ns();
            let ticks = counter.start();
            (monotonic_raw_ns().saturating_sub(before_ns), before_ns, ticks)
        })
        .min_by_key(|(width_ns, ..)| *width_ns);
    let (width_ns, before_ns, ticks) = anchor.unwrap_or_default();
    let ago_ns = (before_ns + width_ns / 2).wrapping_sub(at_ns).cast_signed();
    let ago_ticks = (ago_ns as f64 / ns_per_tick).round() as i64;
    ticks.wrapping_add_signed(-ago_ticks)
}

/// Watches for the end of one thread after the other.
pub(super) struct Observer {
    counter: Counter,
    /// The thread to watch; 0 when its end was seen.
    thread: AtomicU32,
    /// When it was seen to be gone, in ticks.
    gone: AtomicU64,
    refused: AtomicBool,
    quit: AtomicBool,
}

impl Observer {
    pub(super) fn new(counter: Counter) -> Observer {
        Observer {
            counter,
            thread: AtomicU32::new(0),
            gone: AtomicU64::new(0),
            refused: AtomicBool::new(false),
            quit: AtomicBool::new(false),
        }
    }

    /// The calling thread is to be watched from now on.
    pub(super) fn watch_me(&self) {
        self.thread.store(current_id().unwrap_or_default(), Ordering::Release);
    }

    /// Ends [`Observer::watch`].
    pub(super) fn quit(&self) {
        self.quit.store(true, Ordering::Relaxed);
    }

    /// Watches, on this CPU, until [`Observer::quit`]. `ready` is called with what
    /// came of going there.
    pub(super) fn watch(&self, cpu: u32, ready: impl FnOnce(Result<(), Reason>)) {
        sys::settings::take_turns();
        let placed = run_on(&[cpu]);
        let placed_well = placed.is_ok();
        ready(placed);
        while placed_well && !self.quit.load(Ordering::Relaxed) {
            let thread = self.thread.load(Ordering::Acquire);
            if thread == 0 {
                std::hint::spin_loop();
                continue;
            }
            match exists(thread) {
                Ok(true) => continue,
                Ok(false) => self.gone.store(self.counter.stop(), Ordering::Relaxed),
                Err(_) => self.refused.store(true, Ordering::Relaxed),
            }
            self.thread.store(0, Ordering::Release);
        }
    }

    fn end_of_last(&self) -> Result<u64, Reason> {
        let began = Instant::now();
        while self.thread.load(Ordering::Acquire) != 0 {
            if began.elapsed() > PATIENCE {
                return Err(Reason::wrong("the end of a thread was not seen"));
            }
            thread::sleep(Duration::from_micros(50));
        }
        if self.refused.load(Ordering::Relaxed) {
            return Err(Reason::wrong("the kernel does not say whether a thread is gone (tgkill)"));
        }
        Ok(self.gone.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(thread: u32, what: TaskEvent, at_ns: u64) -> TaskRecord {
        TaskRecord { thread, what, at_ns }
    }

    #[test]
    fn the_end_is_that_of_the_creators_last_thread() {
        use TaskEvent::{CreatedBy, Ended};
        let records =
            [record(50, CreatedBy(7), 100), record(51, CreatedBy(8), 110), record(51, Ended, 120)];
        assert_eq!(end_in(&records, 7), None, "another creator's ended");
        assert_eq!(end_in(&records, 8), Some(120));
        // Read CPU by CPU: not in the order of time. The number of a thread
        // that has ended may come again.
        let records =
            [record(50, Ended, 90), record(50, Ended, 130), record(50, CreatedBy(7), 100)];
        assert_eq!(end_in(&records, 7), Some(130));
        assert_eq!(end_in(&[], 7), None);
    }

    #[test]
    fn a_moment_on_the_kernels_clock_is_one_on_the_counter() {
        let counter = Counter::best();
        let calibration = sys::calibrate(&counter, Duration::from_millis(5));
        let before = counter.start();
        let at_ns = monotonic_raw_ns();
        let after = counter.stop();
        // As late as a record is looked at, a good deal later.
        thread::sleep(Duration::from_millis(2));
        let found = in_ticks(at_ns, counter, calibration.ns_per_tick);
        let room = (20_000.0 / calibration.ns_per_tick) as u64;
        assert!(before - room <= found && found <= after + room, "{before} {found} {after}");
    }

    #[test]
    fn the_observer_keeps_its_cpu_for_itself_alone() {
        assert_eq!(Way::Observer(3).left(&[1, 2, 3]), [1, 2]);
        assert_eq!(Way::OwnRecords.left(&[1, 2, 3]), [1, 2, 3]);
    }
}
