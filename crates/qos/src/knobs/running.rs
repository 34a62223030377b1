//! Processes of competing threads from the controller's side.

use super::job::{Competitor, CompetitorOrder, Did, Hello, Window};
use crate::running::JobError;
use model::qos::Outcome;
use model::qos::knobs::{Knob, Permission};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::cpu_weight::WeightGroup;
use sys::process::this_program;
use sys::role::{self, Child, ChildSession, Role, Wait};

/// Time from when threads begin to the window: shares of sessions settle.
pub(super) const SETTLING: Duration = Duration::from_millis(60);
/// How long a try may take, beyond what it waits for a CPU.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a request to end waits at most.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A process whose threads are ready, or run. Killed when dropped.
#[derive(Debug)]
pub(super) struct Process(Child);

impl Process {
    /// Starts it in its own session and waits until its threads are ready.
    pub(super) fn start_competitors(
        threads: Vec<Competitor>,
        stop: &AtomicBool,
    ) -> Result<Process, JobError> {
        let (child, hello) =
            begin_process(&CompetitorOrder::Compete { threads }, None, Wait::until(stop))?;
        match hello {
            Hello::Ready => Ok(Process(child)),
            Hello::Refused(Outcome::Refused(error) | Outcome::Differs(error)) => {
                Err(JobError::Failed(error))
            }
            other => Err(JobError::Failed(format!("unexpected answer {other:?}"))),
        }
    }

    /// Moves all its threads to a control group.
    pub(super) fn join(&self, group: &WeightGroup) -> io::Result<()> {
        let file = group.directory().join("cgroup.procs");
        std::fs::write(file, self.0.process_id().to_string())
    }
}

fn begin_process(
    order: &CompetitorOrder,
    user: Option<u32>,
    wait: Wait<'_>,
) -> Result<(Child, Hello), JobError> {
    let program = match user {
        None => this_program()?,
        Some(user) => {
            // Its directory may be closed to that user, the file is not.
            let mut program = Command::new("/proc/self/exe");
            program.uid(user).gid(user);
            program
        }
    };
    let command = role::role_command(program, Role::Knob, order);
    let mut child = Child::spawn("a process that competes", command, ChildSession::Own)?;
    let hello = child.receive(wait)?;
    Ok((child, hello))
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
    for Process(child) in processes.iter_mut() {
        child.send(&window)?;
    }
    // A process that died is noticed when it is asked what it did.
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
    let did = processes.iter_mut().map(|Process(child)| child.receive(Wait::until(stop)));
    Ok(did.collect::<Result<_, _>>()?)
}

/// Turns a knob and turns it back, as this user or another one.
pub(super) fn tried(knob: &Knob, user: Option<u32>) -> Result<Permission, JobError> {
    match begin_process(
        &CompetitorOrder::Try { knob: knob.clone() },
        user,
        Wait::at_most(PATIENCE),
    )? {
        (_, Hello::Tried(permission)) => Ok(permission),
        (_, other) => Err(JobError::Failed(format!("unexpected answer {other:?}"))),
    }
}
