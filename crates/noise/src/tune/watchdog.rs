//! The process that puts everything back when latlas is killed before it did.
//!
//! It is the same program started again, in a session of its own, with one end
//! of a socket whose other end only latlas has. A byte on it means that
//! nothing is left to do; its end without one means that latlas is gone.

use super::TuneError;
use super::faults::Faults;
use super::journal::{Found, Here, Journal};
use super::report::Restored;
use super::restore::restore_locked;
use super::state::{StateDir, boot_id};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;
use sys::files::Tree;

/// The role of the watchdog ([`sys::role`]); its argument says what to watch, as JSON.
pub const ROLE: &str = "__watchdog";

/// It has left its parent's session and listens.
const READY: u8 = b'r';

/// Nothing is left to do.
const DISMISSED: u8 = b'd';

/// Time within which a new process must be ready; a loaded machine included.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a watchdog is given.
#[derive(Serialize, Deserialize)]
struct Watched {
    state: PathBuf,
    machine: Option<PathBuf>,
    root: PathBuf,
    /// The process whose journal it is.
    process: u32,
}

/// A watchdog, seen from latlas. When this is dropped without having been
/// dismissed, it does its work.
#[derive(Debug)]
pub(crate) struct Watchdog {
    socket: UnixStream,
    child: Child,
}

impl Watchdog {
    /// Starts it; it is ready when this returns.
    pub(crate) fn start(state: &StateDir) -> io::Result<Watchdog> {
        let (ours, other) = UnixStream::pair()?;
        let watched = Watched {
            state: std::path::absolute(&state.path)?,
            machine: state.machine.clone(),
            root: std::path::absolute(&state.root)?,
            process: std::process::id(),
        };
        let child = sys::role::command(ROLE, &serde_json::to_string(&watched)?)?
            .stdin(OwnedFd::from(other))
            .stdout(sys::process::null_device()?)
            .stderr(sys::process::null_device()?)
            .spawn()?;
        let mut watchdog = Watchdog { socket: ours, child };
        let mut byte = [0];
        watchdog.socket.set_read_timeout(Some(PATIENCE))?;
        match watchdog.socket.read_exact(&mut byte) {
            Ok(()) if byte[0] == READY => Ok(watchdog),
            Ok(()) => Err(io::ErrorKind::InvalidData.into()),
            Err(error) => {
                let _ = watchdog.child.kill();
                let _ = watchdog.child.wait();
                Err(error)
            }
        }
    }

    /// Tells it that nothing is left to do, and waits for its end.
    pub(crate) fn dismiss(mut self) {
        // If it was killed, no process is left to report to.
        let _ = self.socket.write_all(&[DISMISSED]);
        let _ = self.child.wait();
    }
}

/// What a watchdog could not do.
#[derive(thiserror::Error, Debug)]
pub enum WatchdogError {
    /// An argument of a user.
    #[error("{ROLE} is internal to latlas")]
    Internal,
    /// It can't watch.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It can't restore.
    #[error(transparent)]
    Tune(#[from] TuneError),
}

/// Watches until it is dismissed, or the process that started it ends: then restores.
///
/// # Errors
/// What could not be done; it is logged too.
pub fn serve(watched: &str) -> Result<(), WatchdogError> {
    watch(watched).inspect_err(|why| log(&format!("latlas watchdog: {why}")))
}

fn watch(watched: &str) -> Result<(), WatchdogError> {
    let watched: Watched = serde_json::from_str(watched).map_err(|_| WatchdogError::Internal)?;
    // Nothing that ends the terminal's session or the shell's job may end this.
    sys::process::leave_session()?;
    sys::process::ignore_requests_to_end();
    // Not to be chosen when memory runs out (proc_pid_oom_score_adj(5)).
    let _ = std::fs::write("/proc/self/oom_score_adj", "-1000");
    // Nor does it keep a file system from being unmounted.
    let _ = std::env::set_current_dir("/");
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let mut socket = UnixStream::from(socket);
    socket.write_all(&[READY])?;
    let mut byte = [0];
    loop {
        match socket.read(&mut byte) {
            Ok(1) if byte[0] == DISMISSED => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Its other end is closed, or was reset with the process.
            Ok(_) | Err(_) => break,
        }
    }
    if let Some(restored) = put_back(&watched)? {
        let count = restored.values.len();
        log(&match restored.complete() {
            true => format!(
                "latlas ended before it restored what it had set: the watchdog did ({count} values)"
            ),
            false => format!(
                "latlas ended before it restored what it had set, and not all could be restored: \
                 run `latlas noise restore` ({})",
                watched.state.display()
            ),
        });
    }
    Ok(())
}

/// What became of the journal of the process; nothing if there is none of it.
fn put_back(watched: &Watched) -> Result<Option<Restored>, TuneError> {
    let state = StateDir::at(&watched.state)
        .of_tree(&watched.root)
        .of_machine(watched.machine.clone())
        .with_faults(Faults::of_the_watchdog());
    let lock = state.lock(Duration::MAX)?;
    let files = Tree::new(&watched.root);
    let boot_id = boot_id(&files)?;
    let here = Here { boot_id: &boot_id, root: &state.root };
    // Another process may have put it back already, and a third begun anew.
    let found = Journal::open(&state.directories(), here, &state.faults)?;
    let of_it = matches!(found, Some(Found::Ours(journal))
        if journal.header.process == watched.process);
    match of_it {
        true => restore_locked(&files, &state, &lock, "watchdog").map(Some),
        false => Ok(None),
    }
}

/// To the system's log (syslog(3): facility daemon, level notice), if one
/// listens.
fn log(text: &str) {
    let _ = UnixDatagram::unbound()
        .and_then(|socket| socket.send_to(format!("<29>latlas: {text}").as_bytes(), "/dev/log"));
}

#[cfg(test)]
mod tests {
    use super::super::{Step, Tuned};
    use super::*;
    use crate::change::Change;
    use std::fs;

    #[test]
    fn the_journal_of_its_own_process_alone_is_restored() {
        const RATE: &str = "proc/sys/kernel/perf_event_max_sample_rate";
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().join("root");
        for (path, text) in [("proc/sys/kernel/random/boot_id", "boot-1"), (RATE, "9")] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(path, text).expect("written");
        }
        let rate = || fs::read_to_string(root.join(RATE)).expect("a value");
        let state = StateDir::at(&directory.path().join("state")).of_tree(&root);
        let own = std::process::id();
        let watched = |process| Watched {
            state: state.path.clone(),
            machine: None,
            root: root.clone(),
            process,
        };
        let step = Step::Set(Change {
            control: "sample-rate".into(),
            path: format!("/{RATE}"),
            wanted: "1".into(),
        });
        let files = Tree::new(&root);
        let tuned = Tuned::begin(&files, &state, &[step]).expect("begun");
        tuned.leave().expect("left");
        // Its own is restored already, and this is that of a third.
        assert_eq!(put_back(&watched(own + 1)).expect("looked"), None);
        assert_eq!(rate().trim(), "1");
        let restored = put_back(&watched(own)).expect("looked");
        assert!(restored.is_some_and(|restored| restored.as_before()));
        assert_eq!(rate().trim(), "9");
        let last = fs::read(state.path.join("last-restore")).expect("a record");
        let last: serde_json::Value = serde_json::from_slice(&last).expect("JSON");
        assert_eq!(last["by"], "watchdog");
        let value = &last["restored"]["values"][0];
        assert_eq!((&value["old"], &value["outcome"]["state"]), (&"9".into(), &"restored".into()));
        assert_eq!(put_back(&watched(own)).expect("looked"), None, "none is left");
    }
}
