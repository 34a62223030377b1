//! The parent's side of its worker processes: started, sent requests, listened to,
//! ended. No worker outlives its parent's hold on it.

use crate::placement::NotPinned;
use crate::wire::{Reply, VisitRequest, WorkerSetup};
use model::noise::applied::Settings;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::role::{Child, ChildSession, Loss, Lost, Role, Wait};

/// A worker has at least this long for an answer.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What a visit in progress has to end in once the run is to stop.
const GRACE: Duration = Duration::from_secs(1);

/// That a worker was lost.
pub(crate) fn lost(worker: u32, how: Loss) -> Lost {
    Lost { who: format!("worker {worker}"), how }
}

/// The workers of a run, and the time that their visits take. Scripted in tests.
pub trait WorkerPool {
    /// Time since the run began.
    fn elapsed(&self) -> Duration;
    /// Waits.
    fn sleep(&self, time: Duration);
    /// Whether it has this worker.
    fn has(&self, worker: u32) -> bool;
    /// Whether it has none.
    fn is_empty(&self) -> bool;
    /// Ends a worker.
    fn end_worker(&mut self, worker: u32);
    /// Ends a worker and starts another in its place, if that can be.
    fn restart(&mut self, worker: u32);
    /// Sends a worker on visits. Gives its answers as far as they came, for
    /// [`sys::role::frame::parse_body`], and how it was lost, if it was. It has `patience` for each.
    fn visit(
        &mut self,
        worker: u32,
        requests: &[VisitRequest],
        patience: Duration,
        stop: &AtomicBool,
    ) -> (Vec<Vec<u8>>, Option<Lost>);
}

/// Worker processes by number.
pub struct WorkerProcesses {
    /// The processes.
    pub handles: BTreeMap<u32, WorkerHandle>,
    /// When the run began.
    pub began: Instant,
}

impl WorkerPool for WorkerProcesses {
    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
    fn has(&self, worker: u32) -> bool {
        self.handles.contains_key(&worker)
    }
    fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }
    fn end_worker(&mut self, worker: u32) {
        // One that still runs is ended by this.
        self.handles.remove(&worker);
    }
    fn restart(&mut self, worker: u32) {
        let before = self.handles.remove(&worker);
        let setup = before.map(|handle| handle.setup.clone());
        let go_on = AtomicBool::new(false);
        let started = setup.and_then(|setup| WorkerHandle::start_worker(&setup, &go_on).ok());
        self.handles.extend(started.map(|handle| (worker, handle)));
    }
    fn visit(
        &mut self,
        worker: u32,
        requests: &[VisitRequest],
        patience: Duration,
        stop: &AtomicBool,
    ) -> (Vec<Vec<u8>>, Option<Lost>) {
        // Opened only when the worker rests: rows on several CPUs would see
        // us at work at the same time.
        let mut answers = Vec::with_capacity(requests.len());
        let Some(handle) = self.handles.get_mut(&worker) else {
            return (answers, None);
        };
        let mut lost = requests.iter().find_map(|request| handle.child.send(request).err());
        while lost.is_none() && answers.len() < requests.len() {
            match handle.child.receive_frame(Wait { patience, stop, grace: GRACE }) {
                Ok(answer) => answers.push(answer),
                Err(loss) => lost = Some(loss),
            }
            // The visit at hand is finished, those after it are not begun.
            if stop.load(Ordering::Relaxed) && answers.len() < requests.len() {
                lost = lost.or(Some(self::lost(worker, Loss::Stopped)));
            }
        }
        (answers, lost)
    }
}

/// One worker process.
pub struct WorkerHandle {
    setup: WorkerSetup,
    child: Child,
    /// CPUs it is pinned to, or why it is not.
    pub pinned: Result<Vec<u32>, NotPinned>,
    /// What it has of all controls, as it read them back.
    pub granted: Settings,
    /// Why it has not all of the others that were asked for.
    pub refused: Option<String>,
}

impl WorkerHandle {
    /// Starts a worker and waits until it stands ready, or `stop` is set.
    ///
    /// # Errors
    /// How it was lost.
    pub fn start_worker(setup: &WorkerSetup, stop: &AtomicBool) -> Result<WorkerHandle, Lost> {
        let who = format!("worker {}", setup.worker);
        let session = ChildSession::under(setup.asked.own_session());
        let mut child = Child::start(Role::Worker, &who, &(), session)?;
        child.send(setup)?;
        match child.receive(Wait { patience: PATIENCE, stop, grace: GRACE })? {
            Reply::Ready { pinned, granted, refused } => {
                Ok(WorkerHandle { setup: setup.clone(), child, pinned, granted, refused })
            }
            _ => Err(Lost { who, how: io::Error::other("did not say that it is ready").into() }),
        }
    }
}
