//! The row `thread.lifecycle`: create, start, procedure, end and join of one thread, in consecutive stamps.
//! `task.rs` runs the thread and stamps, `stamps.rs` computes the phases. When a thread has ended is found
//! out in `end.rs`, next to this file.

mod stamps;
mod task;

use super::end::{Observer, Way, Witness};
use super::joins::{self, Joins};
use crate::engine::clocks::{Counters, counters};
use crate::engine::reason::Reason;
use crate::engine::threads::{modes, on_free_thread, spawn};
use kernels::checked::words;
use meter::probe::{Effort, Event, Probe, Work, WorkError, WorkingSet};
use meter::worker_memory::WorkerMemory;
use model::run::{Bound, Regime};
use stamps::{Life, OF_THE_END, VARIANTS};
use std::sync::mpsc;
use std::thread;
use sys::clock::Counter;
use task::{ThreadTask, life, overhead};

/// What the procedure sums.
const BYTES: u64 = 1 << 20;

/// Threads created before the first stamp.
const WARM_UP: u32 = 2;

pub(crate) fn lifecycle_probe() -> Probe {
    Probe {
        variants: VARIANTS.map(Into::into).to_vec(),
        title: "the life of a thread that sums 1 MiB".into(),
        operation: "One thread that sums 1 MiB of 4-byte integers: create = the call of pthread_create; start = from its return to the thread's first instruction (below 0 when the thread was faster); procedure = the sum; end = from the thread's last instruction until the kernel records that it is gone; join = from then until pthread_join returns (below 0 when the joining thread was faster); parts = create, start, end and join of one life added up; overhead = the whole of a thread, from the call of pthread_create until pthread_join returns, minus the same sum without a thread.".into(),
        method: format!("Consecutive stamps on one counter, t0 to t5, by creator and thread, both of which may use all allowed CPUs; modes: whether the thread ran on its creator's. t4 is the kernel's exit record of perf_event_open on CLOCK_MONOTONIC_RAW, set on the counter by a reading of both right after; where it is refused, an observer on another CPU polls for the thread until the kernel knows none (the notes say which). The record is written in the kernel after the thread's number is cleared, which wakes the joining thread. /parts adds up within each life, since medians of parts don't add up to the median of the whole. /overhead has threads of its own, created as often in the same batch, with no stamp inside and no record: it is their total minus the sum done inline right before. The creator passes over the memory once before each sum, inline and in a thread. So /parts and /overhead differ by what the sum takes longer in a thread than inline: /parts leaves the sum in the thread out, /overhead the inline one. {}", joins::TEXT).into(),
        source: "Kurkin's thread test: 1 MiB summed, inline time subtracted from create and join. His split into create, end and join was read off the system trace; this row's is by these stamps.".into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        together: true,
        effort: Effort {
            visits: 4,
            samples: 40,
            working_set: WorkingSet::Fixed(BYTES),
            restore_ns_per_byte: 0.5,
            sample_ns: Some(450_000.0),
        },
        row_unavailable: |machine, variant| {
            let needs_end = OF_THE_END.iter().any(|&series| VARIANTS[series] == variant);
            let seen = || Way::find(&machine.cpus);
            needs_end.then(|| seen().err())?.map(|why| why.to_string())
        },
        make: Box::new(|worker, _| {
            let cpus = worker.machine.cpus.clone();
            let way = Way::find(&cpus).unwrap_or(Way::Unseen);
            Ok(Box::new(Lifecycle::new(worker, way)?))
        }),
        ..Probe::blank("thread.lifecycle")
    }
}

struct Lifecycle<'a> {
    memory: &'a [u32],
    cpus: Vec<u32>,
    way: Way,
    counter: Counter,
    counters: &'static Counters,
    overhead_first: bool,
    /// Threads whose end the kernel did not record.
    unrecorded: u32,
    joins: Joins,
}

impl<'a> Lifecycle<'a> {
    fn new(worker: &'a mut WorkerMemory, way: Way) -> Result<Lifecycle<'a>, WorkError> {
        let counters = counters(&worker.machine.cpus)?;
        let cpus = worker.machine.cpus.clone();
        let overhead_first = worker.rng.bool();
        let (memory, ..) = worker.huge(BYTES)?;
        // Memory that was never written is one page of zeros over and over.
        memory.fill(1);
        Ok(Lifecycle {
            memory: words(memory),
            cpus,
            way,
            counter: Counter::best(),
            counters,
            overhead_first,
            unrecorded: 0,
            joins: Joins::default(),
        })
    }

    /// Threads without a stamp inside, each after the sum alone.
    fn overheads(&self, operations: u32) -> Result<Vec<Event>, Reason> {
        on_free_thread(&self.way.left(&self.cpus), || {
            let task = ThreadTask::new(self.memory, self.counter, None);
            let events = (0..WARM_UP + operations).map(|_| overhead(&task));
            let (events, _): (Vec<Event>, _) =
                self.joins.watched(WARM_UP + operations, || events.collect())?;
            self.joins.include(&task.joins);
            Ok(events[WARM_UP as usize..].to_vec())
        })
    }

    /// Threads with all stamps; and how many had no end.
    fn lives(&self, operations: u32) -> Result<(Vec<Life>, u32), Reason> {
        let observer = Observer::new(self.counter);
        thread::scope(|scope| {
            // Whatever happens below, the observer ends.
            let _quit = OnDrop(|| observer.quit());
            let mut watched = None;
            if let Way::Observer(cpu) = self.way {
                let (ready, placed) = mpsc::channel();
                let observer = &observer;
                spawn(scope, move || {
                    observer.watch(cpu, |placed| {
                        let _ = ready.send(placed);
                    });
                })?;
                placed.recv().map_err(|_| Reason::Panicked("the observer"))??;
                watched = Some(observer);
            }
            let cpus = self.way.left(&self.cpus);
            on_free_thread(&cpus, || {
                let ns_per_tick = self.counters.ns_per_tick;
                let mut witness =
                    Witness::new(self.way, &cpus, self.counter, ns_per_tick, &observer)?;
                let task = ThreadTask::new(self.memory, self.counter, watched);
                let mut lives = Vec::with_capacity(operations as usize);
                let mut unrecorded = 0;
                self.joins.watched(WARM_UP + operations, || {
                    for n in 0..WARM_UP + operations {
                        let life = life(&task, &mut witness)?;
                        match life {
                            _ if n < WARM_UP => {}
                            Some(life) => lives.push(life),
                            None => unrecorded += 1,
                        }
                    }
                    Ok::<_, Reason>(())
                })?;
                self.joins.include(&task.joins);
                Ok((lives, unrecorded))
            })
        })
    }
}

/// Calls on drop.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl Work for Lifecycle<'_> {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        self.joins = Joins::default();
        let mut events = Vec::new();
        if self.overhead_first {
            events.extend(self.overheads(operations)?);
        }
        let (lives, unrecorded) = self.lives(operations)?;
        if lives.is_empty() {
            return Err(Reason::wrong("the kernel recorded the end of none of the threads").into());
        }
        events.extend(lives.iter().flat_map(Life::events));
        self.unrecorded = unrecorded;
        if !self.overhead_first {
            events.extend(self.overheads(operations)?);
        }
        Ok(events)
    }
    fn modes(&self) -> Vec<String> {
        modes()
    }
    fn contradiction(&self) -> Option<String> {
        self.joins.contradiction()
    }
    fn notes(&self) -> Vec<String> {
        let mut notes = vec![self.way.note()];
        notes.extend(self.joins.notes());
        notes.extend(self.counters.note.clone());
        if self.unrecorded > 0 {
            notes.push(format!(
                "threads left out, since the kernel did not record their end: {} in one batch",
                self.unrecorded
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests;
