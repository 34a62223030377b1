//! The life of a thread that has something to do, in consecutive stamps.

use super::end::{Observer, Way, Witness};
use super::joins::{self, Joins};
use crate::engine::counters::{Counters, counters};
use crate::engine::reason::Reason;
use crate::engine::threads::{NO_CPU, apart, mode, modes, on_free_thread, some_cpu};
use kernels::checked::{sum, words};
use meter::probe::{Effort, Event, Probe, Work, WorkError, WorkingSet};
use meter::worker_memory::WorkerMemory;
use model::run::{Bound, Regime};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use sys::affinity::current_cpu;
use sys::clock::Counter;
use sys::evidence::thread_switches;
use sys::thread::create_and_join;

/// What the procedure sums.
const BYTES: u64 = 1 << 20;

/// Threads created before the first stamp.
const WARM_UP: u32 = 2;

/// The variants, in the order of the series.
const VARIANTS: [&str; 7] = [
    "overhead",
    "create",
    "start",
    "procedure",
    "end",
    "join",
    "parts",
];

/// The series of a life's costs together.
const PARTS: usize = 6;

pub(crate) fn probe() -> Probe {
    Probe {
        variants: VARIANTS.map(Into::into).to_vec(),
        title: "the life of a thread that sums 1 MiB".into(),
        operation: "One thread that sums 1 MiB of 4-byte integers: create = the call of pthread_create; start = from its return to the thread's first instruction (below 0 when the thread was faster); procedure = the sum; end = from the thread's last instruction until the kernel records that it is gone; join = from then until pthread_join returns (below 0 when the joining thread was faster); parts = create, start, end and join of one life added up; overhead = the whole of a thread, from the call of pthread_create until pthread_join returns, minus the same sum without a thread.".into(),
        method: format!("Consecutive stamps on one counter, t0 to t5, by creator and thread, both of which may use all allowed CPUs; modes: whether the thread ran on its creator's. t4 is the kernel's exit record of perf_event_open on CLOCK_MONOTONIC_RAW, set on the counter by a reading of both right after; where it is refused, an observer on another CPU polls for the thread until the kernel knows none (the notes say which). The record is written in the kernel after the thread's number is cleared, which wakes the joining thread. /parts adds up within each life, since medians of parts don't add up to the median of the whole. /overhead has threads of its own, created as often in the same visit, with no stamp inside and no record: it is their total minus the sum done inline right before. The creator passes over the memory once before each sum, inline and in a thread. So /parts and /overhead differ by what the sum takes longer in a thread than inline: /parts leaves the sum in the thread out, /overhead the inline one. {}", joins::TEXT).into(),
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
        make: Box::new(|worker, _| {
            let cpus = worker.machine.cpus.clone();
            Ok(Box::new(Lifecycle::new(worker, Way::find(&cpus)?)?))
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
            let task = Task::new(self.memory, self.counter, None);
            let events = (0..WARM_UP + operations).map(|_| overhead(&task));
            let events: Vec<Event> = self
                .joins
                .watched(|| events.collect::<Result<_, Reason>>())?;
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
                thread::Builder::new()
                    .spawn_scoped(scope, move || {
                        observer.run(cpu, |placed| {
                            let _ = ready.send(placed);
                        });
                    })
                    .map_err(|e| Reason::not_started("threads", &e))?;
                placed
                    .recv()
                    .map_err(|_| Reason::Panicked("the observer"))??;
                watched = Some(observer);
            }
            let cpus = self.way.left(&self.cpus);
            on_free_thread(&cpus, || {
                let ns_per_tick = self.counters.ns_per_tick;
                let mut witness =
                    Witness::new(self.way, &cpus, self.counter, ns_per_tick, &observer)?;
                let task = Task::new(self.memory, self.counter, watched);
                let mut lives = Vec::with_capacity(operations as usize);
                let mut unrecorded = 0;
                self.joins.watched(|| {
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
                "threads left out, since the kernel did not record their end: {} in one visit",
                self.unrecorded
            ));
        }
        notes
    }
}

/// What a thread does, and what it leaves.
struct Task<'a> {
    memory: &'a [u32],
    counter: Counter,
    observer: Option<&'a Observer>,
    /// Its first and last stamp.
    first: AtomicU64,
    last: AtomicU64,
    /// The CPU that it began on.
    cpu: AtomicU32,
    sum: AtomicU32,
    joins: Joins,
}

impl<'a> Task<'a> {
    fn new(memory: &'a [u32], counter: Counter, observer: Option<&'a Observer>) -> Task<'a> {
        Task {
            memory,
            counter,
            observer,
            first: AtomicU64::new(0),
            last: AtomicU64::new(0),
            cpu: AtomicU32::new(NO_CPU),
            sum: AtomicU32::new(0),
            joins: Joins::default(),
        }
    }

    /// The procedure alone.
    fn procedure(&self) {
        self.cpu
            .store(current_cpu().unwrap_or(NO_CPU), Ordering::Relaxed);
        self.sum.store(sum(self.memory), Ordering::Relaxed);
    }

    /// The procedure between the thread's two stamps.
    fn stamped(&self) {
        let first = self.counter.start();
        if let Some(observer) = self.observer {
            observer.watch_me();
        }
        self.first.store(first, Ordering::Relaxed);
        self.procedure();
        self.last.store(self.counter.stop(), Ordering::Relaxed);
    }

    fn mode(&self, creator: Option<u32>) -> u8 {
        let cpu = some_cpu(self.cpu.load(Ordering::Relaxed));
        mode(creator, cpu)
    }

    /// Brings the memory back to the creator's caches, before each sum.
    fn warm(&self) {
        black_box(sum(self.memory));
    }
}

/// From the time of the procedure inline to that of a thread with it.
fn overhead(task: &Task) -> Result<Event, Reason> {
    let counter = task.counter;
    task.warm();
    let begin = counter.start();
    task.procedure();
    let inline = counter.stop().wrapping_sub(begin);
    let before = thread_switches();
    let here = current_cpu();
    let t0 = counter.start();
    let outcome = create_and_join(task, Task::procedure, || ());
    let t5 = counter.stop();
    task.joins.add(before);
    outcome.map_err(|e| Reason::not_started("threads", &e))?;
    Ok(Event {
        series: 0,
        from_ticks: inline,
        to_ticks: t5.wrapping_sub(t0),
        ops: 1,
        mode: task.mode(here),
    })
}

/// One thread's stamps; `None` if its end was not recorded.
fn life(task: &Task, witness: &mut Witness) -> Result<Option<Life>, Reason> {
    let counter = task.counter;
    task.warm();
    let created = Cell::new(0);
    let before = thread_switches();
    let here = current_cpu();
    let t0 = counter.start();
    let outcome = create_and_join(task, Task::stamped, || created.set(counter.stop()));
    let t5 = counter.stop();
    task.joins.add(before);
    outcome.map_err(|e| Reason::not_started("threads", &e))?;
    Ok(witness.end_of_last()?.map(|gone| Life {
        call: t0,
        created: created.get(),
        first: task.first.load(Ordering::Relaxed),
        last: task.last.load(Ordering::Relaxed),
        gone,
        joined: t5,
        mode: task.mode(here),
    }))
}

/// The stamps of one thread, in ticks, t0 to t5.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Life {
    /// The call that creates it begins.
    call: u64,
    /// That call is back.
    created: u64,
    /// The thread's first instruction.
    first: u64,
    /// Its last.
    last: u64,
    /// The kernel's word that it is gone.
    gone: u64,
    /// The join is back.
    joined: u64,
    mode: u8,
}

impl Life {
    /// Its stretches, one after the other, each from a stamp to the next; and
    /// all but the procedure together.
    fn events(&self) -> [Event; 6] {
        let stamps = [
            self.call,
            self.created,
            self.first,
            self.last,
            self.gone,
            self.joined,
        ];
        let before = self.first.wrapping_sub(self.call);
        let after = self.joined.wrapping_sub(self.last);
        std::array::from_fn(|n| {
            let series = n + 1;
            let (from_ticks, to_ticks) = match series {
                PARTS => apart(0, before.wrapping_add(after)),
                _ => apart(stamps[n], stamps[n + 1]),
            };
            Event {
                series,
                from_ticks,
                to_ticks,
                ops: 1,
                mode: self.mode,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, no_thread_is_left, worker};

    /// Signed length of an event, ticks.
    fn ticks(event: &Event) -> i64 {
        event.to_ticks.cast_signed() - event.from_ticks.cast_signed()
    }

    #[test]
    fn the_stretches_make_up_the_whole() {
        // The thread began before the create call was back, and the join was
        // back before the thread was gone; the counter wraps in between.
        for (base, steps) in [
            (1000, [0, 700, 650, 9000, 9800, 9900]),
            (u64::MAX - 5000, [0_u64, 20, 400, 9000, 9700, 9500]),
        ] {
            let at = |step: usize| base.wrapping_add(steps[step]);
            let life = Life {
                call: at(0),
                created: at(1),
                first: at(2),
                last: at(3),
                gone: at(4),
                joined: at(5),
                mode: 1,
            };
            let events = life.events();
            let series: Vec<usize> = events.iter().map(|e| e.series).collect();
            assert_eq!(series, [1, 2, 3, 4, 5, 6]);
            let (parts, stretches) = events.split_last().expect("events");
            let total: i64 = stretches.iter().map(ticks).sum();
            assert_eq!(total, steps[5].cast_signed());
            // All but the procedure, which is the third.
            assert_eq!(VARIANTS[parts.series], "parts");
            assert_eq!(ticks(parts), total - ticks(&stretches[2]));
            assert_eq!((parts.ops, parts.mode), (1, 1));
            for (n, event) in stretches.iter().enumerate() {
                let step = steps[n + 1].cast_signed() - steps[n].cast_signed();
                assert_eq!(ticks(event), step, "{}", VARIANTS[n + 1]);
                assert_eq!((event.ops, event.mode), (1, 1));
            }
        }
    }

    #[test]
    fn parts_that_come_to_less_than_nothing_stay_so() {
        // Counters apart: the thread's last stamp lies behind the join.
        let life = Life {
            call: 1000,
            created: 1010,
            first: 1020,
            last: 9000,
            gone: 8960,
            joined: 8900,
            mode: 0,
        };
        assert_eq!(ticks(&life.events()[5]), 20 - 100);
    }

    /// The ways of seeing the end that can be tried here.
    fn ways(cpus: &[u32]) -> Vec<Way> {
        use sys::task_records::TaskRecords;
        let mut ways = Vec::new();
        if TaskRecords::of_machine(cpus).is_ok() {
            ways.push(Way::MachineRecords);
        }
        if TaskRecords::of_own_threads(cpus).is_ok() {
            ways.push(Way::OwnRecords);
        }
        if cpus.len() >= 2 {
            ways.push(Way::Observer(cpus[cpus.len() - 1]));
        }
        ways
    }

    #[test]
    fn the_stamps_of_a_thread_stand_in_their_order() {
        let cpus = cpus();
        for way in ways(&cpus) {
            let mut worker = worker(cpus.clone());
            let work = Lifecycle::new(&mut worker, way).expect("work");
            let (lives, unrecorded) = work.lives(20).expect("threads");
            assert_eq!((lives.len(), unrecorded), (20, 0), "{way:?}");
            for life in &lives {
                // Other CPUs' stamps may be off by what the counters differ; an emulated counter
                // may not have advanced between two.
                let before = |a: u64, b: u64| a < b + 100_000;
                assert!(life.call <= life.created, "{way:?} {life:?}");
                assert!(life.created <= life.joined, "{way:?} {life:?}");
                assert!(before(life.call, life.first), "{way:?} {life:?}");
                assert!(life.first <= life.last, "{way:?} {life:?}");
                assert!(before(life.last, life.joined), "{way:?} {life:?}");
                assert!(before(life.last, life.gone), "{way:?} {life:?}");
            }
        }
    }

    #[test]
    fn the_observer_keeps_its_cpu_for_itself() {
        let cpus = cpus();
        if cpus.len() != 2 {
            return;
        }
        let mut worker = worker(cpus.clone());
        let mut work = Lifecycle::new(&mut worker, Way::Observer(cpus[1])).expect("work");
        let events = work.stamped(5).expect("threads");
        assert!(events.iter().all(|e| e.mode == 0), "one CPU is left");
    }

    #[test]
    fn a_visit_has_as_many_events_of_each_series() {
        let cpus = cpus();
        let Ok(way) = Way::find(&cpus) else {
            return;
        };
        for overhead_first in [true, false] {
            let mut worker = worker(cpus.clone());
            let mut work = Lifecycle::new(&mut worker, way).expect("work");
            work.overhead_first = overhead_first;
            no_thread_is_left("lifecycle", || {
                let events = work.stamped(6).expect("threads");
                assert_eq!(events[0].series == 0, overhead_first);
                for (series, variant) in VARIANTS.iter().enumerate() {
                    let own = events.iter().filter(|e| e.series == series);
                    assert_eq!(own.count(), 6, "{variant}");
                }
            });
            assert_eq!(work.modes().len(), 2);
        }
    }

    #[test]
    fn the_thread_sums_what_is_there() {
        let mut worker = worker(cpus());
        let (memory, ..) = worker.huge(BYTES).expect("memory");
        memory.fill(1);
        let counter = Counter::best();
        let task = Task::new(words(memory), counter, None);
        let inline = overhead(&task).expect("a thread").from_ticks;
        // 2^18 integers of 0x01010101, wrapped to 32 bits.
        let wanted = 0x0101_0101_u32.wrapping_mul(1 << 18);
        assert_eq!(task.sum.swap(0, Ordering::Relaxed), wanted);
        assert!(inline > 0);
        create_and_join(&task, Task::stamped, || ()).expect("a thread");
        assert_eq!(task.sum.load(Ordering::Relaxed), wanted);
        assert!(task.first.load(Ordering::Relaxed) < task.last.load(Ordering::Relaxed));
    }

    #[test]
    fn overhead_is_the_whole_thread_against_the_sum_alone() {
        let mut worker = worker(cpus());
        let (memory, ..) = worker.huge(BYTES).expect("memory");
        memory.fill(1);
        let task = Task::new(words(memory), Counter::best(), None);
        let event = overhead(&task).expect("a thread");
        assert_eq!((event.series, event.ops), (0, 1));
        // Both are whole lengths, not stamps: neither is 0.
        assert!(event.from_ticks > 0 && event.to_ticks > 0);
    }
}
