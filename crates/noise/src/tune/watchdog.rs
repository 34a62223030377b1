//! The process that puts everything back when latlas is killed before it did.

use super::TuneError;
use super::faults::Faults;
use super::journal::{FoundJournal, Here, Journal};
use super::report::Restored;
use super::restore::restore_locked;
use super::state::{StateDir, boot_id};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::Duration;
use sys::files::Tree;
use sys::role::{Role, RoleTask, Watchdog};

/// What a watchdog is given.
#[derive(Serialize, Deserialize)]
struct Watched {
    state: PathBuf,
    machine: Option<PathBuf>,
    root: PathBuf,
    /// The process whose journal it is.
    process: u32,
}

/// Starts the watchdog of this process's journal; it is ready when this returns.
pub(crate) fn start(state: &StateDir) -> io::Result<Watchdog> {
    let watched = Watched {
        state: std::path::absolute(&state.path)?,
        machine: state.machine.clone(),
        root: std::path::absolute(&state.root)?,
        process: std::process::id(),
    };
    Watchdog::start(Role::Watchdog, &watched).map_err(io::Error::other)
}

/// Watches until it is dismissed, or the process that started it ends: then restores.
///
/// # Errors
/// What could not be done; it is logged too.
pub fn serve(task: &RoleTask) -> io::Result<()> {
    watch(task).inspect_err(|why| log(&format!("latlas watchdog: {why}")))
}

fn watch(task: &RoleTask) -> io::Result<()> {
    let Some(watched) = task.watch::<Watched>()? else {
        return Ok(());
    };
    if let Some(restored) = put_back(&watched).map_err(io::Error::other)? {
        let count = restored.values.len();
        log(&match restored.complete() {
            true => format!(
                "latlas ended before it restored its settings: the watchdog restored them ({count} values)"
            ),
            false => format!(
                "latlas ended before it restored its settings, and not all could be restored: \
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
    let found = Journal::open_first(&state.directories(), here, &state.faults)?;
    let of_it = matches!(found, Some(FoundJournal::Ours(journal))
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
