//! Visits with real threads.

use super::stamps::VARIANTS;
use super::*;
use crate::engine::testing::{cpus, no_thread_is_left, worker};
use meter::probe::MachineShape;

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
            let gone = life.gone.expect("seen");
            assert!(before(life.last, gone), "{way:?} {life:?}");
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
fn where_no_end_is_seen_only_what_it_divides_is_missing() {
    let mut worker = worker(cpus());
    let mut work = Lifecycle::new(&mut worker, Way::Unseen).expect("work");
    let events = work.stamped(3).expect("threads");
    let count = |series| events.iter().filter(|e| e.series == series).count();
    let counts: Vec<(&str, usize)> =
        (0..VARIANTS.len()).map(|series| (VARIANTS[series], count(series))).collect();
    let wanted = [3, 3, 3, 3, 0, 0, 3];
    assert_eq!(counts, VARIANTS.into_iter().zip(wanted).collect::<Vec<_>>());
    assert!(work.notes()[0].contains("not observed"));
    // On one CPU without records there is no observer either.
    let probe = lifecycle_probe();
    let machine = MachineShape { cpus: Vec::new(), ..MachineShape::default() };
    if Way::find(&[]).is_err() {
        let reason = |row| probe.row_missing(row, &machine);
        let end = reason("thread.lifecycle/end").expect("a reason");
        assert!(end.starts_with("the end of a thread can't be observed"), "{end}");
        assert_eq!(reason("thread.lifecycle/join"), Some(end));
        assert_eq!(reason("thread.lifecycle/parts"), None);
    }
}
