//! The short look in a process of its own, under the controls of those who
//! are measured. A thread of this process has another weight, and can't enter
//! a cpuset that this process stays out of: what it lost would be no word on
//! what they lose.

use super::around::{SHORT, short_look};
use crate::controls::Asked;
use model::noise::gaps::Gaps;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use sys::clock::Counter;

/// Set in the environment of such a process: what it is to do, as JSON.
pub const LOOK_VARIABLE: &str = "LATLAS_LOOK";

/// What such a process may take beside its look.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the run looks whether it is to stop meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Length of the clock's calibration.
const CALIBRATION: Duration = Duration::from_millis(20);

/// What such a process is to do.
#[derive(Serialize, Deserialize)]
struct Look {
    parent: u32,
    cpu: Option<u32>,
    not_pinned: Option<String>,
    asked: Asked,
}

/// One short look under these controls.
///
/// # Errors
/// Why there is none, in words.
pub fn look_under(
    asked: &Asked,
    cpu: Option<u32>,
    not_pinned: Option<&str>,
    stop: &AtomicBool,
) -> Result<Gaps, String> {
    let look = Look {
        parent: std::process::id(),
        cpu,
        not_pinned: not_pinned.map(Into::into),
        asked: asked.clone(),
    };
    let look = serde_json::to_string(&look).map_err(|e| e.to_string())?;
    let not_started = |e: io::Error| format!("no process could be started to spin: {e}");
    let mut program = sys::process::this_program().map_err(not_started)?;
    program
        .env(LOOK_VARIABLE, look)
        .stdin(sys::process::null_device().map_err(not_started)?)
        .stderr(sys::process::null_device().map_err(not_started)?);
    let (output, status) = output(&mut program, SHORT + PATIENCE, stop).map_err(not_started)??;
    serde_json::from_slice(&output)
        .unwrap_or_else(|_| Err(format!("the process that was to spin: {status}")))
}

/// What a process writes until it ends. One that takes longer than `most`, as a
/// stopped one does, is killed, and so is one that runs when `stop` is set; that
/// is said in words.
fn output(
    program: &mut Command,
    most: Duration,
    stop: &AtomicBool,
) -> io::Result<Result<(Vec<u8>, ExitStatus), String>> {
    let until = Instant::now() + most;
    let mut child = program.stdout(Stdio::piped()).spawn()?;
    let (to, from) = mpsc::channel();
    let stdout = child.stdout.take();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        // An answer that breaks off can't be read, and that is said.
        let _ = stdout.map(|mut from| from.read_to_end(&mut text));
        to.send(text)
    });
    let why_not = loop {
        match from.recv_timeout(LOOK_EVERY) {
            Ok(text) => return Ok(Ok((text, child.wait()?))),
            Err(_) if stop.load(Ordering::Relaxed) => break "interrupted".to_string(),
            Err(_) if Instant::now() < until => {}
            Err(_) => {
                break format!(
                    "the process that was to spin took over {} s",
                    most.as_secs()
                );
            }
        }
    };
    child.kill()?;
    child.wait()?;
    Ok(Err(why_not))
}

/// Becomes a process that takes a look, and never returns, if this one was
/// started as one. A program that measures calls this first.
pub fn enter_if_looker() {
    let Ok(look) = std::env::var(LOOK_VARIABLE) else {
        return;
    };
    let code = match serve(&look) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("latlas look: {error}");
            1
        }
    };
    std::process::exit(code);
}

fn serve(look: &str) -> io::Result<()> {
    let look: Look = serde_json::from_str(look)
        .map_err(|_| io::Error::other(format!("{LOOK_VARIABLE} is for latlas itself to set")))?;
    // It is over soon, and what it saw is part of what its parent keeps.
    sys::stop::outlive_requests()?;
    // Where the system can't promise it, it ends by itself soon.
    let _ = sys::process::die_with_parent_id(look.parent);
    io::stdout().write_all(&serde_json::to_vec(&take(&look))?)
}

fn take(look: &Look) -> Result<Gaps, String> {
    sys::controls::apply(&look.asked.controls()).map_err(|refused| refused.to_string())?;
    let counter = Counter::best();
    let calibration = sys::clock::calibrate(&counter, CALIBRATION);
    if !calibration.is_usable() {
        return Err(format!("the clock {} can't be calibrated", counter.name()));
    }
    let never = AtomicBool::new(false);
    let not_pinned = look.not_pinned.as_deref();
    short_look(look.cpu, not_pinned, counter, &calibration, &never)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_end_is_killed_in_time_and_on_request() {
        let hour = Duration::from_secs(3600);
        for (most, stops, why) in [
            (Duration::ZERO, false, "took over 0 s"),
            (hour, true, "interrupted"),
        ] {
            let mut program = Command::new("sh");
            // As a stopped one: nothing but SIGKILL ends it.
            program.args(["-c", "kill -STOP $$"]);
            let ended = output(&mut program, most, &AtomicBool::new(stops)).expect("started");
            let said = ended.expect_err("it does not end");
            assert!(said.contains(why), "{said}");
        }
        let mut program = Command::new("echo");
        let ended = output(program.arg("done"), hour, &AtomicBool::new(false));
        let (text, status) = ended.expect("started").expect("ends");
        assert_eq!((text, status.success()), (b"done\n".to_vec(), true));
    }
}
