//! A thread that does nothing.

use super::joins::{self, Joins};
use crate::engine::clocks::{Counters, counters};
use crate::engine::reason::Reason;
use crate::engine::threads::{NO_CPU, event, mode, modes, on_free_thread, some_cpu};
use meter::probe::{Effort, Event, Probe, Work, WorkError};
use model::run::{Bound, Regime};
use std::sync::atomic::{AtomicU32, Ordering};
use sys::affinity::current_cpu;
use sys::clock::Counter;
use sys::evidence::thread_switches;
use sys::thread::create_and_join;

/// Threads created before the first stamp: the system keeps the stack of a
/// thread for the next one.
const WARM_UP: u32 = 3;

pub(crate) fn create_join_probe() -> Probe {
    Probe {
        title: "creating and joining a thread".into(),
        operation: "One thread that returns at once: pthread_create with the default attributes, and pthread_join.".into(),
        method: format!("Each creation is stamped before the create call and after the join, by a thread that may use all allowed CPUs, as may the thread that it creates; that one only stores its CPU's number. Three come first unstamped, so that a stack is cached, as in any program that had a thread before. Modes: whether the new thread ran on its creator's CPU. {}", joins::TEXT).into(),
        source: "Mike Ash's tables (2016): a pthread created and joined 1e5 times in one loop; he takes the mean, this row the distribution of single operations. Kurkin's threads have a task: thread.lifecycle. LMbench itself creates no threads.".into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        effort: Effort::stamped(4, 80, 60_000.0),
        make: Box::new(|worker, _| {
            Ok(Box::new(CreateJoin {
                cpus: worker.machine.cpus.clone(),
                // Both stamps are the creator's, but it may move in between.
                counters: counters(&worker.machine.cpus)?,
                joins: Joins::default(),
                run_delay_ns: None,
            }))
        }),
        ..Probe::blank("thread.create_join")
    }
}

struct CreateJoin {
    cpus: Vec<u32>,
    counters: &'static Counters,
    joins: Joins,
    /// How long the creator and its threads waited for CPUs that others had, ns.
    run_delay_ns: Option<u64>,
}

impl Work for CreateJoin {
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        let counter = Counter::best();
        self.joins = Joins::default();
        let (events, run_delay_ns) = on_free_thread(&self.cpus, || {
            for _ in 0..WARM_UP {
                one(counter, &self.joins)?;
            }
            self.joins.watched(operations, || {
                let events = (0..operations).map(|_| one(counter, &self.joins));
                events.collect::<Result<Vec<Event>, Reason>>()
            })
        })?;
        self.run_delay_ns = run_delay_ns;
        Ok(events)
    }
    fn modes(&self) -> Vec<String> {
        modes()
    }
    fn notes(&self) -> Vec<String> {
        let mut notes = self.joins.notes();
        notes.extend(self.counters.note.clone());
        notes
    }
    fn contradiction(&self) -> Option<String> {
        self.joins.contradiction()
    }
    fn run_delay_ns(&self, _series: usize, _own_ns: u64) -> Option<u64> {
        self.run_delay_ns
    }
}

fn one(counter: Counter, joins: &Joins) -> Result<Event, Reason> {
    let ran_on = AtomicU32::new(NO_CPU);
    let before = thread_switches();
    let here = current_cpu();
    let from = counter.start();
    let outcome = create_and_join(&ran_on, note_cpu, || ());
    let to = counter.stop();
    joins.add_joined_thread(before);
    outcome.map_err(|e| Reason::not_started("threads", &e))?;
    let ran_on = some_cpu(ran_on.load(Ordering::Relaxed));
    Ok(event(from, to, 1, mode(here, ran_on)))
}

fn note_cpu(ran_on: &AtomicU32) {
    ran_on.store(current_cpu().unwrap_or(NO_CPU), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, no_thread_is_left, worker};
    use meter::probe::Site;

    #[test]
    fn each_operation_is_one_thread_that_ends() {
        let site = Site { variant: String::new(), at: Vec::new() };
        no_thread_is_left("create_join", || {
            let mut worker = worker(cpus());
            let mut work = (create_join_probe().make)(&mut worker, &site).expect("work");
            let events = work.stamped(7).expect("threads");
            if thread_switches().is_some() {
                assert!(work.notes()[0].starts_with("the creator's context switches"));
            }
            assert_eq!(events.len(), 7);
            for event in events {
                assert_eq!((event.series, event.ops, event.from_ticks), (0, 1, 0));
                assert!(event.to_ticks > 0);
            }
        });
    }

    #[test]
    fn on_one_cpu_there_is_one_mode() {
        let Some(&cpu) = cpus().first() else {
            return;
        };
        let mut work = CreateJoin {
            cpus: vec![cpu],
            counters: counters(&[cpu]).expect("one CPU agrees with itself"),
            joins: Joins::default(),
            run_delay_ns: None,
        };
        let events = work.stamped(5).expect("threads");
        let modes = work.modes();
        assert!(events.iter().all(|e| modes[usize::from(e.mode)] == "same CPU"));
    }

    #[test]
    fn the_cpu_noted_is_that_of_the_new_thread() {
        let ran_on = AtomicU32::new(NO_CPU);
        create_and_join(&ran_on, note_cpu, || ()).expect("a thread");
        match sys::current_cpu() {
            Some(_) => assert_ne!(ran_on.into_inner(), NO_CPU),
            None => assert_eq!(ran_on.into_inner(), NO_CPU),
        }
    }
}
