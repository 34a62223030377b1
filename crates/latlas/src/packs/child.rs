//! The child that loads a pack, to list it or to try a probe: a pack may end or stop the process that
//! loads it.

use crate::answer;
use meter::pack::{Listing, PackSite, Trial, TrialError, listing, trial};
use meter::wire;
use model::limits::PACK;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use sys::patience::Patience;

/// The role of the child ([`sys::role`]); its argument is an [`Order`] as JSON.
pub(crate) const ROLE: &str = "__pack";

/// A child has this long, not counting what it waits for a CPU.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often is looked at what it waited.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What to do.
#[derive(Serialize, Deserialize)]
struct Order {
    parent: u32,
    file: PathBuf,
    /// Try this probe, with files in this directory; else list all.
    probe: Option<(String, PathBuf)>,
}

/// Why a child has no answer.
#[derive(thiserror::Error, Debug)]
pub(crate) enum Failure {
    /// Its own words.
    #[error("{0}")]
    Said(String),
    /// Lists or texts that are longer than any.
    #[error("is not listed: {0}")]
    TooLong(io::Error),
    /// It ended before.
    #[error("ended the process that loaded it ({0})")]
    Ended(String),
    /// It does not answer.
    #[error("did not return within {} s", PATIENCE.as_secs())]
    Hangs,
    /// It could not be started.
    #[error("can't be loaded in a process of its own: {0}")]
    NotStarted(#[from] io::Error),
}

/// Lists a pack.
///
/// # Errors
/// Why it is no pack.
pub(crate) fn listed(file: &Path) -> Result<Listing, Failure> {
    let answer: Result<Listing, String> = answer(file, None)?;
    answer.map_err(Failure::Said)
}

/// Tries a probe of a pack.
///
/// # Errors
/// If the child was lost; what is wrong with the probe is inside.
pub(crate) fn tried(
    file: &Path,
    id: &str,
    directory: &Path,
) -> Result<Result<Trial, TrialError>, Failure> {
    answer(file, Some((id.to_owned(), directory.to_owned())))
}

fn answer<T: DeserializeOwned>(
    file: &Path,
    probe: Option<(String, PathBuf)>,
) -> Result<T, Failure> {
    let order = Order { parent: std::process::id(), file: file.to_owned(), probe };
    let order = serde_json::to_string(&order).map_err(io::Error::from)?;
    let command = sys::role::command(ROLE, &order)?;
    match wire::open_within::<T>(&frame(command, PATIENCE)?, &PACK) {
        Ok(answer) => Ok(answer),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(Failure::TooLong(error)),
        Err(error) => Err(Failure::Said(format!("its answer can't be read: {error}"))),
    }
}

/// What a child sends. One that does not run because others do is not late.
fn frame(mut command: Command, patience: Duration) -> Result<Vec<u8>, Failure> {
    let answer = answer::of(&mut command)?;
    let mut child = Ended(command.spawn()?);
    // The command holds the other end.
    drop(command);
    let patience = Patience::with(child.0.id(), patience);
    loop {
        let heard = answer.within(LOOK_EVERY);
        let is_closed = heard.is_some();
        if let Some(Ok(Some(body))) = heard {
            return Ok(body);
        }
        // Its pipe does not tell: a process that the pack started may hold it, and the pack may close it and go on.
        if let Some(status) = child.0.try_wait()? {
            let last = answer.of_ended().ok().flatten();
            return last.ok_or_else(|| Failure::Ended(status.to_string()));
        }
        if patience.is_over() {
            return Err(Failure::Hangs);
        }
        if is_closed {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A child that ends with its parent's interest in it.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Does it, as the child.
///
/// # Errors
/// An order that is none, or an answer that can't be sent.
pub(crate) fn serve(order: &str) -> io::Result<()> {
    let order: Order = serde_json::from_str(order)
        .map_err(|_| io::Error::other(format!("{ROLE} is internal to latlas")))?;
    // Where the system can't do that, its time is limited.
    let _ = sys::process::die_with_parent_id(order.parent);
    let mut to = answer::end()?;
    match order.probe {
        None => {
            let answer = listing(&order.file).map_err(|why| why.to_string());
            wire::send(&mut to, &answer)
        }
        Some((id, directory)) => {
            let site = PackSite { file: order.file, id };
            wire::send(&mut to, &trial(&site, &directory))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why a script has no answer. `$0` is a file.
    fn failure(script: &str, patience: Duration) -> (Failure, String) {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("left");
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&file);
        let failure = frame(command, patience).expect_err("no answer");
        let left = std::fs::read_to_string(file).unwrap_or_default();
        (failure, left)
    }

    #[test]
    fn a_process_that_an_ended_child_left_is_not_waited_for() {
        let script = "exec 3>&0; sleep 600 2>/dev/null & echo $! >$0; exit 3";
        let (failure, left) = failure(script, PATIENCE);
        let kill = format!("kill {left}");
        let killed = Command::new("sh").args(["-c", &kill]).status();
        assert!(killed.expect("started").success());
        assert_eq!(failure.to_string(), "ended the process that loaded it (exit status: 3)");
    }

    #[test]
    fn a_child_that_closes_the_pipe_and_goes_on_is_killed() {
        let (failure, _) = failure("exec 0<&-; exec sleep 600", Duration::from_millis(50));
        assert!(matches!(failure, Failure::Hangs), "{failure}");
    }
}
