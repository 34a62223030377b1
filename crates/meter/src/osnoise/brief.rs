//! The brief measurement just before and just after a run or a command, on the
//! CPU that it measures on.
//!
//! Under controls that change the share of the CPU (nice, SCHED_FIFO, a shield)
//! a child process with the same controls measures: a thread of this process
//! has another weight and may be outside the cpuset.

use super::{OsnoiseError, Request, measure};
use crate::controls::RequestedControls;
use model::conditions::Conditions;
use model::noise::osnoise::{Osnoise, OsnoiseAround};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use sys::clock::{Calibration, Counter};

/// Length: about forty ticks of a usual kernel, and short compared to a run.
pub const SHORT: Duration = Duration::from_millis(150);

/// Parts of the span in the document.
const STRETCHES: usize = 20;

/// The role of a measuring child ([`sys::role`]); its argument is the task as JSON.
pub const ROLE: &str = "__osnoise";

/// What a child may take beyond [`SHORT`].
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the parent checks `stop`.
const POLL: Duration = Duration::from_millis(100);

/// Length of the clock calibration in a child.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Why there is no brief measurement. It never fails a run.
#[derive(thiserror::Error, Debug)]
pub enum BriefError {
    /// By a signal.
    #[error("interrupted")]
    Interrupted,
    /// The detector failed.
    #[error(transparent)]
    Detector(#[from] OsnoiseError),
    /// The child could not be started or waited for.
    #[error("can't start a process to spin: {0}")]
    NotStarted(#[from] io::Error),
    /// The child exceeded its time.
    #[error("the spinning process took over {0} s")]
    TimedOut(u64),
    /// The child ended without an answer.
    #[error("the spinning process: {0}")]
    NoAnswer(ExitStatus),
    /// The child's reason.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The controls were refused in the child.
    #[error(transparent)]
    Refused(#[from] sys::controls::NotSet),
    /// The clock is of no use.
    #[error("the clock {0} can't be calibrated")]
    NoClock(&'static str),
}

/// Why a child has no measurement, as it put it: its reason crosses a pipe.
#[derive(thiserror::Error, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[error("{0}")]
pub struct ChildError(String);

/// Measures in a thread of this process.
///
/// # Errors
/// Why it can't.
pub fn in_thread(
    cpu: Option<u32>,
    not_pinned: Option<&str>,
    counter: Counter,
    calibration: &Calibration,
    stop: &AtomicBool,
) -> Result<Osnoise, BriefError> {
    let request = Request { cpu, span: SHORT, stretches: STRETCHES };
    let (osnoise, ended_early) = measure(&request, counter, calibration, stop)?;
    if ended_early {
        return Err(BriefError::Interrupted);
    }
    let not_pinned = || not_pinned.unwrap_or("it was not asked for").into();
    Ok(Osnoise { not_pinned: cpu.is_none().then(not_pinned), ..osnoise })
}

/// [`in_thread`] with a clock calibrated for so long.
///
/// # Errors
/// Why it can't.
pub fn calibrated(
    calibrating: Duration,
    cpu: Option<u32>,
    not_pinned: Option<&str>,
    stop: &AtomicBool,
) -> Result<Osnoise, BriefError> {
    let counter = Counter::best();
    let calibration = sys::clock::calibrate(&counter, calibrating);
    if !calibration.is_usable() {
        return Err(BriefError::NoClock(counter.name()));
    }
    in_thread(cpu, not_pinned, counter, &calibration, stop)
}

/// Puts both measurements into the conditions; a missing one leaves a remark.
/// `after` is `None` if the run was interrupted.
pub fn record(
    conditions: &mut Conditions,
    before: Result<Osnoise, BriefError>,
    after: Option<Result<Osnoise, BriefError>>,
) {
    let mut missed = |why: BriefError| {
        let remark = format!("OS noise was not measured: {why}");
        conditions.remarks.push(remark);
    };
    match before {
        Ok(before) => {
            let after = after.and_then(|after| after.map_err(&mut missed).ok());
            conditions.osnoise = Some(OsnoiseAround { before, after });
        }
        Err(why) => missed(why),
    }
}

/// Task of a child.
#[derive(Serialize, Deserialize)]
struct Task {
    parent: u32,
    cpu: Option<u32>,
    not_pinned: Option<String>,
    asked: RequestedControls,
}

/// Measures in a child process under these controls.
///
/// # Errors
/// Why it can't.
pub fn in_child(
    asked: &RequestedControls,
    cpu: Option<u32>,
    not_pinned: Option<&str>,
    stop: &AtomicBool,
) -> Result<Osnoise, BriefError> {
    let task = Task {
        parent: std::process::id(),
        cpu,
        not_pinned: not_pinned.map(Into::into),
        asked: asked.clone(),
    };
    let task = serde_json::to_string(&task).map_err(io::Error::from)?;
    let mut program = sys::role::command(ROLE, &task)?;
    program.stdin(sys::process::null_device()?).stderr(sys::process::null_device()?);
    let (output, status) = output(&mut program, SHORT + PATIENCE, stop)?;
    match serde_json::from_slice::<Result<Osnoise, ChildError>>(&output) {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(BriefError::NoAnswer(status)),
    }
}

/// The output of a process. One that takes longer than `most` (stopped, say),
/// or runs when `stop` is set, is killed.
fn output(
    program: &mut Command,
    most: Duration,
    stop: &AtomicBool,
) -> Result<(Vec<u8>, ExitStatus), BriefError> {
    let until = Instant::now() + most;
    let mut child = program.stdout(Stdio::piped()).spawn()?;
    let (to, from) = mpsc::channel();
    let stdout = child.stdout.take();
    let reading = sys::thread::spawn(std::thread::Builder::new(), move || {
        let mut text = Vec::new();
        // A truncated answer does not parse.
        let _ = stdout.map(|mut from| from.read_to_end(&mut text));
        to.send(text)
    });
    let why_not = loop {
        if let Err(error) = reading {
            break OsnoiseError::NoThread(error).into();
        }
        match from.recv_timeout(POLL) {
            Ok(text) => return Ok((text, child.wait()?)),
            Err(_) if stop.load(Ordering::Relaxed) => break BriefError::Interrupted,
            Err(_) if Instant::now() < until => {}
            Err(_) => break BriefError::TimedOut(most.as_secs()),
        }
    };
    child.kill()?;
    child.wait()?;
    Err(why_not)
}

/// Becomes a measuring child, and never returns, if this process was started
/// as one. A program that measures calls this first.
pub fn enter_if_child() {
    let Some(task) = sys::role::from_environment(ROLE) else {
        return;
    };
    let code = match serve(&task) {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(io::stderr(), "latlas osnoise: {error}");
            1
        }
    };
    std::process::exit(code);
}

/// Measures as the task says, and prints the result.
///
/// # Errors
/// A task that is none, or a result that can't be printed.
pub fn serve(task: &str) -> io::Result<()> {
    let task: Task = serde_json::from_str(task)
        .map_err(|_| io::Error::other(format!("{ROLE} is internal to latlas")))?;
    // It ends soon, and its result belongs to what the parent keeps.
    sys::stop::outlive_requests()?;
    // Where the system can't do that, it ends by itself soon.
    let _ = sys::process::die_with_parent_id(task.parent);
    let answer = run(&task).map_err(|why| ChildError(why.to_string()));
    io::stdout().write_all(&serde_json::to_vec(&answer)?)
}

fn run(task: &Task) -> Result<Osnoise, BriefError> {
    sys::controls::apply(&task.asked.list())?;
    let never = AtomicBool::new(false);
    let not_pinned = task.not_pinned.as_deref();
    calibrated(CALIBRATION, task.cpu, not_pinned, &never)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_does_not_end_is_killed_in_time_and_on_request() {
        let hour = Duration::from_secs(3600);
        for (most, stops) in [(Duration::ZERO, false), (hour, true)] {
            let mut program = Command::new("sh");
            // As a stopped one: nothing but SIGKILL ends it.
            program.args(["-c", "kill -STOP $$"]);
            let error = output(&mut program, most, &AtomicBool::new(stops));
            match error.expect_err("it does not end") {
                BriefError::Interrupted => assert!(stops),
                BriefError::TimedOut(0) => assert!(!stops),
                other => panic!("{other}"),
            }
        }
        let mut program = Command::new("echo");
        let ended = output(program.arg("done"), hour, &AtomicBool::new(false));
        let (text, status) = ended.expect("ends");
        assert_eq!((text, status.success()), (b"done\n".to_vec(), true));
    }
}
