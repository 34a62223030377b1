//! The workers of a run without processes: the conducting thread makes the visits itself, for each
//! of them in memory of its own. For systems where no process can be started (iOS).
//!
//! What is missing then: the variation between processes (addresses of code, stack and heap), and
//! protection. A visit that hangs or crashes takes the whole program with it; one that panics
//! costs its worker only.

use crate::probe::Probe;
use crate::wire::{VisitRequest, WorkerSetup};
use crate::worker::Worker;
use crate::worker_pool::{WorkerPool, lost};
use std::collections::BTreeMap;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::role::{Loss, Lost};

/// Workers of this process by number.
pub(crate) struct InProcess<'c> {
    catalogue: &'c [Probe],
    workers: BTreeMap<u32, Worker<'c>>,
    began: Instant,
}

impl<'c> InProcess<'c> {
    /// None yet, of a run that began then.
    pub(crate) fn new(catalogue: &'c [Probe], began: Instant) -> InProcess<'c> {
        InProcess { catalogue, workers: BTreeMap::new(), began }
    }

    /// Adds one. It takes its memory when a cell wants it.
    pub(crate) fn add_worker(&mut self, setup: &WorkerSetup) {
        let worker = Worker::new(self.catalogue, setup);
        self.workers.insert(setup.worker, worker);
    }
}

impl WorkerPool for InProcess<'_> {
    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
    fn has(&self, worker: u32) -> bool {
        self.workers.contains_key(&worker)
    }
    fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }
    fn end_worker(&mut self, worker: u32) {
        self.workers.remove(&worker);
    }
    fn restart(&mut self, worker: u32) {
        // Only packs' are, which need a process.
        self.end_worker(worker);
    }
    fn visit(
        &mut self,
        worker: u32,
        requests: &[VisitRequest],
        _patience: Duration,
        stop: &AtomicBool,
    ) -> (Vec<Vec<u8>>, Option<Lost>) {
        let mut answers = Vec::with_capacity(requests.len());
        let Some(own) = self.workers.get_mut(&worker) else {
            return (answers, None);
        };
        for request in requests {
            if stop.load(Ordering::Relaxed) {
                return (answers, Some(lost(worker, Loss::Stopped)));
            }
            // After a panic it is not used again: it ends.
            let visited =
                panic::catch_unwind(AssertUnwindSafe(|| own.visit(request, &mut Vec::new())));
            let Ok(reply) = visited else {
                let how = Loss::Ended("panicked".into());
                return (answers, Some(lost(worker, how)));
            };
            match serde_json::to_vec(&reply) {
                Ok(answer) => answers.push(answer),
                Err(error) => return (answers, Some(lost(worker, io::Error::from(error).into()))),
            }
        }
        (answers, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conduct::{Silent, conduct};
    use crate::function::Session;
    use crate::pack::{Origin, PackRow, PackSite};
    use crate::plan::{self, PlanError, plan};
    use crate::probe::Work;
    use crate::run_remark::Partial;
    use model::core_clock::ClockMovement;
    use model::run::{Program, Run};
    use std::path::Path;

    struct Panics;

    impl Work for Panics {
        fn run(&mut self, _turns: u64, _double: bool) {
            panic!("as this test wants it");
        }
    }

    fn panicking(stop: bool) -> Run {
        let catalogue =
            [Probe { make: Box::new(|_, _| Ok(Box::new(Panics))), ..Probe::blank("my.panic") }];
        let machine = sys::machine_facts(Path::new("/"));
        let request = plan::Request { in_process: true, ..plan::Request::default() };
        let plan = plan(&catalogue, &request, &machine).expect("a plan");
        let program = Program {
            name: "my program".into(),
            version: "1".into(),
            commit: None,
            target: "none".into(),
            profile: "debug".into(),
            emulated: None,
        };
        let stop = AtomicBool::new(stop);
        conduct(&catalogue, &plan, machine, program, &mut Silent, &stop).expect("a run")
    }

    #[test]
    fn all_workers_of_the_plan_visit_and_the_document_tells() {
        let of = |seconds| {
            let session = Session::new().function("my.add", || 1 + std::hint::black_box(1));
            let budget = Duration::from_secs(seconds);
            session.budget(budget).in_process().run().expect("a run")
        };
        let visiting = |run: &Run| {
            let samples = run.cells.iter().flat_map(|cell| cell.samples.samples());
            let workers = samples.flatten().map(|sample| sample.worker);
            workers.collect::<std::collections::BTreeSet<_>>().len() as u32
        };
        // On a busy machine a second is too short for all of them.
        let mut runs = [1, 4, 16].into_iter().map(of);
        let run = runs.find(|run| visiting(run) == run.plan.workers);
        let run = run.expect("all workers visit");
        assert!(run.plan.in_process);
        assert_eq!(run.partial, None);
        let asked = run.conditions.applied.expect("read back").asked;
        assert_eq!(asked.own_session, None, "it is the program's");
        // Nothing is stored that says how far the clock moves between runs.
        let clock = run.core_clock.expect("of the canaries");
        assert_eq!(clock.between_runs, Some(ClockMovement::FLOOR));
    }

    #[test]
    fn a_panic_costs_its_workers_and_no_more() {
        let run = panicking(false);
        assert_eq!(run.partial, None, "two are lost before the row is given up");
        let lost = "worker 0 ended early (panicked) while measuring my.panic; its samples are kept";
        assert!(run.conditions.remarks.contains(&lost.to_owned()));
    }

    #[test]
    fn a_stop_is_heard_before_the_next_visit() {
        let run = panicking(true);
        assert_eq!(run.partial, Some(Partial::Interrupted.to_string()));
        assert!(run.cells.is_empty());
    }

    #[test]
    fn a_pack_is_not_let_into_the_program() {
        let site = PackSite { file: "/pack.so".into(), id: "my.row".into() };
        let probe = Probe {
            origin: Origin::Pack(PackRow {
                site,
                pack: "mine".into(),
                disk_bytes: 0,
                unavailable: None,
            }),
            ..Probe::blank("my.row")
        };
        let request = plan::Request { in_process: true, ..plan::Request::default() };
        let planned =
            plan(&[probe], &request, &sys::machine_facts(Path::new("/"))).expect("a plan");
        assert!(planned.cells.is_empty());
        let (row, .., reason) = &planned.unavailable[0];
        assert_eq!(row, "my.row");
        assert!(reason.contains("leave out --in-process"), "{reason}");
    }

    #[test]
    fn controls_of_a_process_are_refused() {
        let machine = sys::machine_facts(Path::new("/"));
        let mut request = plan::Request { in_process: true, ..plan::Request::default() };
        request.controls.asked.settings.nice = Some(5);
        let refused = plan(&[Probe::blank("my.row")], &request, &machine);
        assert_eq!(refused.err(), Some(PlanError::ControlsInProcess));
    }
}
