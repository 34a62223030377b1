//! Processes of competing threads from the controller's side.

use super::job::{Competitor, Did, Hello, Order, ROLE, Window};
use crate::running::JobError;
use model::qos::Outcome;
use model::qos::knobs::{Knob, Permission};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::cpu_weight::WeightGroup;
use sys::process::{in_own_session, null_device, this_program};

/// Time from when threads begin to the window: shares of sessions settle.
pub(super) const SETTLING: Duration = Duration::from_millis(60);
/// How long a request to end waits at most.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A process whose threads are ready, or run. Killed when dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    go: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it in its own session and waits until its threads are ready.
    pub(super) fn start(threads: Vec<Competitor>) -> Result<Process, JobError> {
        let parent = std::process::id();
        let mut process = Process::begin(this_program()?, &Order::Compete { parent, threads })?;
        match process.read()? {
            Hello::Ready => Ok(process),
            Hello::Refused(Outcome::Refused(error) | Outcome::Differs(error)) => {
                Err(JobError::Failed(error))
            }
            other => Err(JobError::Failed(format!("unexpected answer {other:?}"))),
        }
    }

    fn begin(mut command: Command, order: &Order) -> Result<Process, JobError> {
        let order = serde_json::to_string(order).map_err(io::Error::from)?;
        command
            .args([ROLE, &order])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(null_device()?);
        let mut child = in_own_session(&mut command).spawn()?;
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let output = child.stdout.take().ok_or_else(closed);
        let go = child.stdin.take();
        let output = match output {
            Ok(output) => BufReader::new(output),
            Err(error) => {
                let _ = child.kill();
                return Err(error.into());
            }
        };
        Ok(Process { child, go, output })
    }

    /// Moves all its threads to a control group.
    pub(super) fn join(&self, group: &WeightGroup) -> io::Result<()> {
        let file = group.directory().join("cgroup.procs");
        std::fs::write(file, self.child.id().to_string())
    }

    /// What it says next.
    fn read<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, JobError> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        serde_json::from_str(&line).map_err(|_| match self.child.wait() {
            Ok(status) => JobError::Failed(format!("no answer ({status})")),
            Err(error) => JobError::NotStarted(error),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets the threads of all processes run, and gives what each did in a window of this
/// length.
pub(super) fn window(
    processes: &mut [Process],
    length: Duration,
    stop: &AtomicBool,
) -> Result<Vec<Vec<Did>>, JobError> {
    let begin_ns = sys::monotonic_raw_ns() + SETTLING.as_nanos() as u64;
    let end = Instant::now() + SETTLING + length;
    let window = Window { begin_ns, end_ns: begin_ns + length.as_nanos() as u64 };
    for process in processes.iter_mut() {
        if let Some(mut go) = process.go.take() {
            writeln!(go, "{} {}", window.begin_ns, window.end_ns)?;
        }
    }
    // A process that died is noticed by the end of its output.
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(LOOK_EVERY));
        if stop.load(Ordering::Relaxed) {
            return Err(JobError::Interrupted);
        }
    }
    processes.iter_mut().map(Process::read).collect()
}

/// Turns a knob and turns it back, as this user or another one.
pub(super) fn tried(knob: &Knob, user: Option<u32>) -> Result<Permission, JobError> {
    let mut command = this_program()?;
    if let Some(user) = user {
        // Its directory may be closed to that user, the file is not.
        command = Command::new("/proc/self/exe");
        command.uid(user).gid(user);
    }
    let mut process = Process::begin(command, &Order::Try { knob: knob.clone() })?;
    match process.read()? {
        Hello::Tried(permission) => Ok(permission),
        other => Err(JobError::Failed(format!("unexpected answer {other:?}"))),
    }
}
