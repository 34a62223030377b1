//! The short look in a process of its own, under the controls of those who
//! are measured. A thread of this process has another weight, and can't enter
//! a cpuset that this process stays out of: what it lost would be no word on
//! what they lose.

use super::around::short_look;
use crate::controls::Asked;
use model::noise::gaps::Gaps;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock::Counter;

/// Set in the environment of such a process: what it is to do, as JSON.
pub const LOOK_VARIABLE: &str = "LATLAS_LOOK";

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
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let output = program.output().map_err(not_started)?;
    if stop.load(Ordering::Relaxed) {
        return Err("interrupted".into());
    }
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| Err(format!("the process that was to spin: {}", output.status)))
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
