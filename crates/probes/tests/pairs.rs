//! The rows of two threads as the catalogue has them: each runs, says what it
//! saw, and leaves nothing behind. One test, and alone in its process, since
//! it counts what the process holds.

#![cfg(target_os = "linux")]

use meter::probe::{MachineShape, Probe, Site, WorkError};
use meter::worker_memory::WorkerMemory;
use model::run::Regime;
use std::time::Duration;

fn machine() -> MachineShape {
    MachineShape {
        largest_bytes: 1 << 20,
        cpus: sys::affinity::allowed_cpus().expect("a set of CPUs"),
        ..MachineShape::default()
    }
}

fn entries(directory: &str) -> usize {
    std::fs::read_dir(directory).expect("readable").count()
}

/// Threads, open files, and where this thread may run.
fn held() -> (usize, usize, Vec<u32>) {
    let cpus = sys::affinity::allowed_cpus().expect("a set of CPUs");
    (entries("/proc/self/task"), entries("/proc/self/fd"), cpus)
}

fn visit(probe: &Probe, worker: &mut WorkerMemory) -> Result<(), WorkError> {
    let site =
        Site { variant: probe.variants.first().map_or("", |v| v).to_string(), at: Vec::new() };
    let row = &probe.row_ids()[0];
    let mut work = (probe.make)(worker, &site)?;
    let events = work.stamped(5)?;
    assert_eq!(events.len(), 5, "{row}");
    let modes = work.modes();
    for event in &events {
        assert!(event.to_ticks != event.from_ticks, "{row}: {event:?}");
        assert!(modes.is_empty() || usize::from(event.mode) < modes.len(), "{row}");
    }
    work.verify()
}

#[test]
fn each_row_runs_and_leaves_nothing() {
    // The way a worker has it: pinned to one CPU of several.
    let machine = machine();
    sys::affinity::pin_to(&machine.cpus[..1]).expect("the first CPU");
    let probes = probes::catalogue();
    let ours: Vec<&Probe> = probes
        .iter()
        .filter(|p| p.regime == Regime::Stamped)
        .filter(|p| {
            p.id.starts_with("net.") || p.id == "sync.handoff" || p.id == "sync.semaphore_switch"
        })
        .collect();
    let mut worker = WorkerMemory::new(machine.clone(), 0, 0, 1);
    let mut ran = 0;
    for probe in &ours {
        let row = &probe.row_ids()[0];
        if (probe.unavailable)(&machine).is_some() {
            continue;
        }
        let before = held();
        visit(probe, &mut worker).unwrap_or_else(|e| panic!("{row}: {e}"));
        // A joined thread may stay in the list for a moment.
        for _ in 0..18_000 {
            if held() == before {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(held(), before, "{row}: threads, open files, CPUs");
        ran += 1;
    }
    let several = machine.cpus.len() > 1;
    assert!(ran >= if several { 25 } else { 18 }, "only {ran} of {}", ours.len());
}
