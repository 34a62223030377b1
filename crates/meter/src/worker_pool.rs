//! The parent's side of its worker processes: started, sent requests, listened to,
//! ended. No worker outlives its parent's hold on it.

use crate::placement::NotPinned;
use crate::wire::{self, Reply, Request, Setup};
use crate::worker::ROLE;
use model::noise::applied::Settings;
use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::patience::Patience;

/// A worker has at least this long for an answer.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What a visit in progress has to end in once the run is to stop.
const GRACE: Duration = Duration::from_secs(1);

/// How often the parent looks whether the run is to stop: seldom enough that
/// the rows on several CPUs don't see it.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How a worker was lost.
#[derive(thiserror::Error, Clone, Debug)]
pub enum WorkerLoss {
    /// Its process ended.
    #[error("worker {worker} ended early ({how})")]
    Ended {
        /// Its number.
        worker: u32,
        /// Exit status or signal.
        how: String,
    },
    /// It did not answer in time.
    #[error("worker {worker} timed out after {} s", after.as_secs())]
    TimedOut {
        /// Its number.
        worker: u32,
        /// How long it had.
        after: Duration,
    },
    /// The run was stopped before it answered.
    #[error("worker {worker} was stopped with the run")]
    Stopped {
        /// Its number.
        worker: u32,
    },
    /// A probe panicked in it; only of one in this process.
    #[error("worker {worker} panicked")]
    Panicked {
        /// Its number.
        worker: u32,
    },
    /// It could not be started, or what it sent can't be read.
    #[error("worker {worker}: {error}")]
    Broken {
        /// Its number.
        worker: u32,
        /// Why.
        error: Arc<io::Error>,
    },
}

impl WorkerLoss {
    pub(crate) fn broken(worker: u32, error: io::Error) -> WorkerLoss {
        let error = Arc::new(error);
        WorkerLoss::Broken { worker, error }
    }
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
    fn end(&mut self, worker: u32);
    /// Ends a worker and starts another in its place, if that can be.
    fn restart(&mut self, worker: u32);
    /// Sends a worker on visits. Gives its answers as far as they came, for
    /// [`wire::open`], and how it was lost, if it was. It has `patience` for each.
    fn visit(
        &mut self,
        worker: u32,
        requests: &[Request],
        patience: Duration,
        stop: &AtomicBool,
    ) -> (Vec<Vec<u8>>, Option<WorkerLoss>);
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
    fn end(&mut self, worker: u32) {
        // One that still runs is ended by this.
        self.handles.remove(&worker);
    }
    fn restart(&mut self, worker: u32) {
        let before = self.handles.remove(&worker);
        let setup = before.map(|handle| handle.setup.clone());
        let go_on = AtomicBool::new(false);
        let started = setup.and_then(|setup| WorkerHandle::start(&setup, &go_on).ok());
        self.handles.extend(started.map(|handle| (worker, handle)));
    }
    fn visit(
        &mut self,
        worker: u32,
        requests: &[Request],
        patience: Duration,
        stop: &AtomicBool,
    ) -> (Vec<Vec<u8>>, Option<WorkerLoss>) {
        // Opened only when the worker rests: rows on several CPUs would see
        // us at work at the same time.
        let mut answers = Vec::with_capacity(requests.len());
        let Some(handle) = self.handles.get_mut(&worker) else {
            return (answers, None);
        };
        let mut lost = requests.iter().find_map(|request| handle.send(request).err());
        while lost.is_none() && answers.len() < requests.len() {
            match handle.receive_frame(patience, stop) {
                Ok(answer) => answers.push(answer),
                Err(loss) => lost = Some(loss),
            }
            // The visit at hand is finished, those after it are not begun.
            if stop.load(Ordering::Relaxed) && answers.len() < requests.len() {
                lost = lost.or(Some(WorkerLoss::Stopped { worker }));
            }
        }
        (answers, lost)
    }
}

/// One worker process.
pub struct WorkerHandle {
    /// Its number.
    pub worker: u32,
    setup: Setup,
    child: Child,
    reaped: bool,
    from: BufReader<UnixStream>,
    to: UnixStream,
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
    pub fn start(setup: &Setup, stop: &AtomicBool) -> Result<WorkerHandle, WorkerLoss> {
        let worker = setup.worker;
        let mut handle =
            WorkerHandle::spawn(setup).map_err(|error| WorkerLoss::broken(worker, error))?;
        let sent = wire::send(&mut handle.to, setup);
        sent.map_err(|error| handle.loss(error, PATIENCE))?;
        let ready = wire::open(&handle.receive_frame(PATIENCE, stop)?);
        match ready.map_err(|error| handle.loss(error, PATIENCE))? {
            Reply::Ready { pinned, granted, refused } => {
                (handle.pinned, handle.granted, handle.refused) = (pinned, granted, refused)
            }
            _ => {
                let error = io::Error::other("the worker did not say it was ready");
                return Err(WorkerLoss::broken(worker, error));
            }
        }
        Ok(handle)
    }

    fn spawn(setup: &Setup) -> io::Result<WorkerHandle> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut program = sys::role::command(ROLE, &std::process::id().to_string())?;
        program.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(sys::process::null_device()?);
        // A group of its own: Ctrl-C is the parent's to answer. One that gets
        // a session makes it itself, before it is ready: a session has a group
        // too, whose leader can't begin one, and what runs in the child before
        // its program would cost a fork of all that is here.
        if !setup.asked.own_session() {
            program.process_group(0);
        }
        ours.set_read_timeout(Some(LOOK_EVERY))?;
        // A stopped worker takes no requests either.
        ours.set_write_timeout(Some(PATIENCE))?;
        let from = BufReader::new(ours.try_clone()?);
        Ok(WorkerHandle {
            worker: setup.worker,
            setup: setup.clone(),
            child: program.spawn()?,
            reaped: false,
            from,
            to: ours,
            pinned: Ok(Vec::new()),
            granted: Settings::default(),
            refused: None,
        })
    }

    /// Sends it a request.
    ///
    /// # Errors
    /// How it was lost.
    pub fn send(&mut self, request: &Request) -> Result<(), WorkerLoss> {
        wire::send(&mut self.to, request).map_err(|error| self.loss(error, PATIENCE))
    }

    /// Waits for its next answer and leaves it unopened, for
    /// [`wire::open`]: opening takes CPU time, which the worker's next visit
    /// may want. It has `patience` for it, not counting what it waits for a CPU, and once
    /// `stop` is set a second.
    ///
    /// # Errors
    /// How it was lost.
    pub fn receive_frame(
        &mut self,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<Vec<u8>, WorkerLoss> {
        let own = Patience::with(self.child.id(), patience);
        let mut stopped: Option<Instant> = None;
        let mut waits = || {
            if stop.load(Ordering::Relaxed) {
                let since = *stopped.get_or_insert_with(Instant::now);
                return since.elapsed() < GRACE;
            }
            !own.is_over()
        };
        let received = wire::receive_frame_while(&mut self.from, &mut waits);
        match received {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(self.loss(io::ErrorKind::UnexpectedEof.into(), patience)),
            Err(error) if stopped.is_some() && is_timeout(&error) => {
                Err(WorkerLoss::Stopped { worker: self.worker })
            }
            Err(error) => Err(self.loss(error, patience)),
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What an error on its socket means.
    fn loss(&mut self, error: io::Error, patience: Duration) -> WorkerLoss {
        let worker = self.worker;
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => {
                self.reaped = true;
                let how = match sys::process::wait_and_kill_group(&mut self.child) {
                    Ok(status) => status.to_string(),
                    Err(e) => e.to_string(),
                };
                WorkerLoss::Ended { worker, how }
            }
            _ if is_timeout(&error) => WorkerLoss::TimedOut { worker, after: patience },
            _ => WorkerLoss::broken(worker, error),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl Drop for WorkerHandle {
    fn drop(&mut self) {
        // Nothing in a worker wants an orderly end; a zombie is of no use.
        // Nor children of its own that hang: it leads a group, whose number is
        // no other process's until it is reaped. SIGKILL ends stopped ones too.
        if !self.reaped {
            let _ = sys::process::kill_group(self.child.id());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A worker that says nothing, and the end of its socket.
    fn silent() -> (WorkerHandle, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        ours.set_read_timeout(Some(Duration::from_millis(5))).expect("a timeout");
        let handle = WorkerHandle {
            worker: 3,
            setup: Setup {
                worker: 3,
                pin: Vec::new(),
                asked: Default::default(),
                ns_per_tick: 1.0,
                began_ns: 0,
                huge_bytes: 0,
                base_bytes: 0,
                last_level_canary_bytes: 0,
                seed: 0,
                machine_shape: Default::default(),
            },
            child: Command::new("sleep").arg("1000").process_group(0).spawn().expect("sleeps"),
            reaped: false,
            from: BufReader::new(ours.try_clone().expect("a copy")),
            to: ours,
            pinned: Ok(Vec::new()),
            granted: Settings::default(),
            refused: None,
        };
        (handle, theirs)
    }

    /// A worker with a child of its own that does not end; the child's number.
    #[cfg(target_os = "linux")]
    fn with_child(ends: bool) -> (WorkerHandle, u32) {
        let (mut handle, _) = silent();
        let then = if ends { "exit 7" } else { "wait" };
        let script = format!("sleep 1000 >/dev/null & echo $!; {then}");
        let mut worker = Command::new("sh")
            .args(["-c", &script])
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut line = String::new();
        let mut out = BufReader::new(worker.stdout.take().expect("a pipe"));
        std::io::BufRead::read_line(&mut out, &mut line).expect("a number");
        let mut before = std::mem::replace(&mut handle.child, worker);
        before.kill().expect("it sleeps");
        before.wait().expect("reaped");
        (handle, line.trim().parse().expect("a number"))
    }

    #[cfg(target_os = "linux")]
    #[track_caller]
    fn ends(child: u32) {
        let runs = || {
            let stat = std::fs::read_to_string(format!("/proc/{child}/stat"));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        let began = Instant::now();
        while runs() {
            assert!(began.elapsed() < Duration::from_secs(60), "{child} runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_worker_that_is_given_up_takes_its_children_along() {
        let (handle, child) = with_child(false);
        drop(handle);
        ends(child);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_worker_that_ended_leaves_no_child() {
        let (mut handle, child) = with_child(true);
        let loss = handle.loss(io::ErrorKind::UnexpectedEof.into(), PATIENCE);
        let text = loss.to_string();
        assert!(text.contains("exit status: 7"), "{text}");
        drop(handle);
        ends(child);
    }

    #[test]
    fn a_silent_worker_times_out_and_is_named() {
        let (mut handle, _theirs) = silent();
        let go_on = AtomicBool::new(false);
        let loss = handle.receive_frame(Duration::from_millis(50), &go_on);
        let loss = loss.expect_err("nothing comes");
        assert!(matches!(loss, WorkerLoss::TimedOut { worker: 3, .. }), "{loss}");
        let after = PATIENCE;
        let text = WorkerLoss::TimedOut { worker: 3, after }.to_string();
        assert_eq!(text, "worker 3 timed out after 60 s");
    }

    #[test]
    fn a_stop_ends_the_wait_however_long_the_patience() {
        let (mut handle, _theirs) = silent();
        let stop = AtomicBool::new(true);
        let loss = handle.receive_frame(Duration::from_secs(1_000_000), &stop);
        assert!(matches!(loss, Err(WorkerLoss::Stopped { worker: 3 })), "{loss:?}");
    }

    #[test]
    fn an_answer_that_is_there_is_taken_although_the_run_stops() {
        let (mut handle, mut theirs) = silent();
        wire::send(&mut theirs, &"an answer").expect("sent");
        let stop = AtomicBool::new(true);
        let answer = handle.receive_frame(PATIENCE, &stop).expect("an answer");
        assert_eq!(wire::open::<String>(&answer).expect("text"), "an answer");
    }
}
