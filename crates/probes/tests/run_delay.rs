//! Whose run delay a row of stamped operations records: that of the thread
//! that stamps, of all threads of the operation, or none.

use meter::probe::{MachineShape, Site};
use meter::worker_memory::WorkerMemory;

/// What the calling thread is said to have waited.
const OWN: u64 = u64::MAX;

/// What a row records of a visit with a few operations.
fn recorded(row: &str) -> Option<u64> {
    let catalogue = probes::catalogue();
    let probe = catalogue
        .iter()
        .find(|probe| probe.row_ids().iter().any(|id| id == row))
        .unwrap_or_else(|| panic!("no row {row}"));
    let machine =
        MachineShape { cpus: sys::allowed_cpus().unwrap_or_default(), ..MachineShape::default() };
    let site = Site { variant: probe.variant_of(row).to_string(), at: vec![1] };
    let mut worker = WorkerMemory::new(machine, 4 << 20, 0, 1);
    let mut work = (probe.make)(&mut worker, &site).unwrap_or_else(|why| panic!("{row}: {why}"));
    work.stamped(3).unwrap_or_else(|why| panic!("{row}: {why}"));
    work.run_delay_ns(0, OWN)
}

#[test]
fn operations_of_the_calling_thread_record_its_run_delay() {
    for row in ["event_loop.zero_delay_tokio", "net.tcp_connect", "collections.push/worst"] {
        assert_eq!(recorded(row), Some(OWN), "{row}");
    }
}

#[test]
fn operations_of_other_threads_record_theirs() {
    let counted = sys::evidence::thread_switches().is_some()
        && sys::thread::current_id().is_some_and(|id| sys::evidence::run_delay_ns_of(id).is_some());
    for row in [
        "thread.create_join",
        "sched.wakeup/timer",
        "sched.wakeup/idle",
        "pool.sync",
        "pool.create",
        "sync.handoff/futex",
        "sync.semaphore_switch/same_cpu",
        "net.round_trip/tcp",
    ] {
        let delay_ns = recorded(row);
        assert_eq!(delay_ns.is_some(), counted, "{row}");
        assert_ne!(delay_ns, Some(OWN), "{row}");
    }
}

#[test]
fn operations_of_threads_that_are_not_watched_record_nothing() {
    // Its parts wait each in its own way: visits whose threads waited contradict it.
    assert_eq!(recorded("thread.lifecycle/create"), None);
}
