//! What tests of rows share: they run a row's work once, in this process, to
//! see what it does, not how long it takes.

use meter::probe::{MachineShape, Probe, Site, Work, WorkError};
use meter::worker_memory::WorkerMemory;
use model::run::Regime;
use std::path::PathBuf;
use tempfile::TempDir;

/// Whether this runs under an emulator, whose kernel counts are not the
/// program's alone.
pub(crate) fn emulated() -> bool {
    let machine = sys::machine_facts(std::path::Path::new("/"));
    machine.emulated.get().is_some_and(|by| by.present_name().is_some())
}

/// CPUs that the test itself may use.
pub(crate) fn cpus() -> Vec<u32> {
    sys::allowed_cpus().unwrap_or_default()
}

/// A CPU that the tests may use.
pub(crate) fn here() -> u32 {
    small_machine().cpus[0]
}

/// A machine with the test's CPUs and little memory.
pub(crate) fn small_machine() -> MachineShape {
    MachineShape {
        l2_bytes: 256 << 10,
        last_level_bytes: 1 << 20,
        largest_bytes: 16 << 20,
        cpus: sys::allowed_cpus().unwrap_or_else(|_| vec![0]),
        page_bytes: sys::pages::base_page_bytes() as u64,
        ..MachineShape::default()
    }
}

/// A worker with 8 MiB of memory on these CPUs.
pub(crate) fn worker(cpus: Vec<u32>) -> WorkerMemory {
    let machine = MachineShape { largest_bytes: 8 << 20, cpus, ..MachineShape::default() };
    WorkerMemory::new(machine, 8 << 20, 8 << 20, 1)
}

/// A worker that has a directory for files, and 16 MiB of memory.
pub(crate) fn worker_with_files() -> (TempDir, WorkerMemory) {
    let dir = tempfile::tempdir().expect("a directory");
    let machine =
        MachineShape { scratch: meter::scratch::scratch_in(dir.path()), ..small_machine() };
    (dir, WorkerMemory::new(machine, 16 << 20, 4 << 20, 1))
}

pub(crate) fn directory(worker: &WorkerMemory) -> PathBuf {
    worker.scratch().expect("one was made").directory.clone()
}

/// The work of a row that `probes` must have, at this point of its curve.
pub(crate) fn row_work<'w>(
    probes: &[Probe],
    row: &str,
    at: &[u64],
    worker: &'w mut WorkerMemory,
) -> Result<Box<dyn Work + 'w>, WorkError> {
    let probe = probes
        .iter()
        .find(|probe| probe.row_ids().iter().any(|id| id == row))
        .unwrap_or_else(|| panic!("no row {row}"));
    if let Some(reason) = probe.missing(&worker.machine) {
        return Err(reason.into());
    }
    let site = Site { variant: probe.variant_of(row).to_string(), at: at.to_vec() };
    (probe.make)(worker, &site)
}

/// Two samples of a row, or a few operations of a stamped one. Its notes, or
/// why it can't run here.
pub(crate) fn run_row(probes: &[Probe], row: &str) -> Result<Vec<String>, WorkError> {
    run_at(probes, row, &[])
}

/// The same at a point of a curve.
pub(crate) fn run_at(probes: &[Probe], row: &str, at: &[u64]) -> Result<Vec<String>, WorkError> {
    let (_dir, mut worker) = worker_with_files();
    let mut work = row_work(probes, row, at, &mut worker)?;
    visit(row, work.as_mut(), 5)?;
    Ok(work.notes())
}

/// A visit: what it must have whatever the row is.
pub(crate) fn visit(row: &str, work: &mut dyn Work, operations: u32) -> Result<(), WorkError> {
    assert!(work.ops_per_turn() > 0.0, "{row}");
    work.restore();
    match work.stamped(operations) {
        Ok(events) => {
            assert!(!events.is_empty(), "{row}");
            let modes = work.modes();
            for event in &events {
                assert!(event.ops > 0, "{row}: {event:?}");
                let mode = usize::from(event.mode);
                assert!(modes.is_empty() || mode < modes.len(), "{row}: {event:?}");
            }
        }
        Err(WorkError::NoStamps) => {
            let turns = work.turn_limits().0.next_multiple_of(work.turn_step());
            for double in [false, work.paired()] {
                work.ready();
                work.run(turns, double);
            }
        }
        Err(e) => return Err(e),
    }
    work.verify()
}

/// Runs this in a thread of that name, which those that it starts inherit,
/// and fails if one of them is left.
pub(crate) fn no_thread_is_left(name: &str, work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name(name.into())
            .spawn_scoped(scope, || {
                work();
                // A joined thread may be on its way out for a moment.
                let begin = std::time::Instant::now();
                while threads_named(name).is_some_and(|threads| threads > 1) {
                    assert!(begin.elapsed().as_secs() < 10, "{name}: a thread is left");
                    std::thread::yield_now();
                }
            })
            .expect("a thread")
            .join()
            .expect("no panic");
    });
}

/// Threads of this process with this name, where the system tells.
fn threads_named(name: &str) -> Option<usize> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    Some(names.filter(|comm| comm.trim() == name).count())
}

/// Every row of the catalogue runs, or says why it can't: none is left out.
#[test]
fn every_row_runs_or_has_a_reason() {
    let probes = crate::catalogue();
    for probe in &probes {
        // Rings of processes are counted in tests/ring.rs, and these would be
        // another test's children.
        if matches!(probe.group(), "process") || probe.id == "sched.ring" {
            continue;
        }
        let (_dir, mut worker) = worker_with_files();
        let machine = worker.machine.clone();
        let first = |points: meter::probe::Points| points(&machine, model::run::Scale::Quick)[0];
        for row in probe.row_ids() {
            // Only a worker's first thread gives the memory back: tests/rows.rs
            // of the program.
            if row == "alloc.malloc_free/16MiB_touched" {
                continue;
            }
            let reason = probe.missing(&machine);
            let at = match &probe.shape {
                _ if reason.is_some() => Vec::new(),
                meter::probe::Shape::Figure => Vec::new(),
                meter::probe::Shape::Curve(_, points) => vec![first(*points)],
                meter::probe::Shape::Map { y, x } => vec![first(y.1), first(x.1)],
                meter::probe::Shape::Pairs(_, points) => {
                    points(&machine, model::run::Scale::Quick)[..2].to_vec()
                }
            };
            match row_work(&probes, &row, &at, &mut worker) {
                Ok(mut work) => {
                    let stamped = probe.regime == Regime::Stamped;
                    let done = visit(&row, work.as_mut(), 3);
                    if let Err(e) = done {
                        panic!("{row} (stamped: {stamped}): {e}");
                    }
                }
                Err(e) => assert!(e.to_string().len() > 10, "{row}: {e}"),
            }
        }
    }
}
