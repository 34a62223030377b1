//! Jobs from the controller's side: starting and waiting come apart, so that
//! several jobs begin together.

use crate::job::ROLE;
use crate::report::{Ended, Hello, Order};
use model::qos::Part;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// How often to look for a request to end. The controller is in another session
/// than the jobs and sleeps in between.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Why jobs did not run to their end.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The program can't be started again.
    #[error("can't start a job: {0}")]
    NotStarted(#[from] io::Error),
    /// It said why.
    #[error("a job failed: {0}")]
    Failed(String),
    /// It ended before its report.
    #[error("{0}")]
    Lost(Loss),
    /// A request to end.
    #[error("interrupted")]
    Interrupted,
}

/// How a job was lost.
#[derive(Debug, thiserror::Error)]
pub enum Loss {
    /// A signal from elsewhere.
    #[error("signal {0} killed a job")]
    Signal(i32),
    /// It ended by itself.
    #[error("a job ended without a report ({0})")]
    NoReport(ExitStatus),
}

/// A job that is ready, or runs. Killed when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    go: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    parts: Vec<Part>,
}

impl Running {
    /// Starts a job in its own session and waits until it is ready. The calling
    /// thread must outlive it.
    ///
    /// # Errors
    /// Why it is not.
    pub fn start(order: &Order) -> Result<Running, JobError> {
        let argument = serde_json::to_string(order).map_err(io::Error::from)?;
        let mut command = sys::process::this_program()?;
        command
            .args([ROLE, &argument])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(sys::process::null_device()?);
        let mut child = sys::process::in_own_session(&mut command).spawn()?;
        let (go, output) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let mut running = Running { child, go, output, parts: Vec::new() };
        let mut line = String::new();
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let output = running.output.as_mut().ok_or_else(closed)?;
        output.read_line(&mut line)?;
        match serde_json::from_str(&line) {
            Ok(Hello::Ready(parts)) => running.parts = parts,
            Ok(Hello::Failed(why)) => return Err(JobError::Failed(why)),
            Err(_) => return Err(running.lost()),
        }
        Ok(running)
    }

    /// What came of the parts of its level.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Its process id, which is its session's too.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Lets it begin.
    fn go(&mut self) -> io::Result<()> {
        match &mut self.go {
            Some(go) => go.write_all(b"g"),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// How it ended, after the end of its output.
    fn lost(&mut self) -> JobError {
        match self.child.wait() {
            Ok(status) => JobError::Lost(match status.signal() {
                Some(signal) => Loss::Signal(signal),
                None => Loss::NoReport(status),
            }),
            Err(error) => JobError::NotStarted(error),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets all jobs begin together and waits for all. Returns when they began
/// (CLOCK_MONOTONIC_RAW, ns) and what each did.
///
/// # Errors
/// The first job that failed or was killed, or a request to end; the others are
/// killed then.
pub fn run(mut jobs: Vec<Running>, stop: &AtomicBool) -> Result<(u64, Vec<Ended>), JobError> {
    let (sender, ended_jobs) = mpsc::channel();
    for (number, job) in jobs.iter_mut().enumerate() {
        let (sender, output) = (sender.clone(), job.output.take());
        let reading = sys::thread::spawn(std::thread::Builder::new(), move || {
            let ended = output.and_then(|mut output| Ended::read(&mut output).ok());
            // A controller that was interrupted listens no more.
            let _ = sender.send((number, ended));
        });
        reading.map_err(|error| crate::job::no_thread(&error))?;
    }
    drop(sender);
    let go_ns = sys::monotonic_raw_ns();
    for job in &mut jobs {
        // One that was killed since is noticed by the end of its output.
        let _ = job.go();
    }
    let mut ended: Vec<Option<Ended>> = vec![None; jobs.len()];
    while ended.iter().any(Option::is_none) {
        if stop.load(Ordering::Relaxed) {
            return Err(JobError::Interrupted);
        }
        let (number, report) = match ended_jobs.recv_timeout(LOOK_EVERY) {
            Ok(heard) => heard,
            Err(mpsc::RecvTimeoutError::Timeout) => continue,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        };
        match report {
            Some(report) => match &report.report.failed {
                Some(why) => return Err(JobError::Failed(why.clone())),
                None => ended[number] = Some(report),
            },
            None => return Err(jobs[number].lost()),
        }
    }
    let all: Option<Vec<Ended>> = ended.into_iter().collect();
    let all = all.ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
    Ok((go_ns, all))
}
