//! Everything in a journal put back, last first.

use super::TuneError;
use super::faults::Faulty;
use super::journal::{self, FoundJournal, Here, Journal, Stale};
use super::report::{PutBack, Restored};
use super::state::{Lock, StateDir, boot_id};
use super::undo::{remember, undo};
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;
use sys::files::Files;

/// For a watchdog or another restore at work; both take milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);

/// Puts back what the journal says, if one is there.
///
/// # Errors
/// If that can't be known, or there is a journal and it can't be used, or another process works with it.
pub fn restore(files: &dyn Files, state: &StateDir) -> Result<Restored, TuneError> {
    if !state.has_journal()? {
        return Ok(Restored::default());
    }
    let lock = state.lock(PATIENCE)?;
    restore_locked(files, state, &lock, "restore")
}

/// [`restore`] by the holder of the lock.
pub(crate) fn restore_locked(
    files: &dyn Files,
    state: &StateDir,
    _lock: &Lock,
    by: &str,
) -> Result<Restored, TuneError> {
    let boot_id = boot_id(files)?;
    let here = Here { boot_id: &boot_id, root: &state.root };
    match Journal::open_first(&state.directories(), here, &state.faults)? {
        None => Ok(Restored::default()),
        Some(FoundJournal::OfAnotherBoot(stale)) => set_aside(stale),
        Some(FoundJournal::Ours(journal)) => Ok(put_back(files, state, journal, by)),
    }
}

/// Puts a journal of another boot out of the way: the kernel began with its
/// own values since.
fn set_aside(stale: Stale) -> Result<Restored, TuneError> {
    let unchecked = stale.unchecked;
    let aside = stale.set_aside().map_err(TuneError::Journal)?;
    Ok(Restored {
        found: true,
        of_another_boot: Some(aside.display().to_string()),
        unchecked,
        ..Restored::default()
    })
}

/// Undoes every entry, and takes the journal away if nothing is left.
pub(crate) fn put_back(
    files: &dyn Files,
    state: &StateDir,
    mut journal: Journal,
    by: &str,
) -> Restored {
    let files = Faulty { inner: files, faults: state.faults.clone() };
    let mut restored = Restored {
        found: true,
        torn: journal.torn,
        unchecked: journal.unchecked(),
        remarks: std::mem::take(&mut journal.remarks),
        ..Restored::default()
    };
    let mut values: Vec<Vec<PutBack>> = vec![Vec::new(); journal.entries.len()];
    // What is in the way of one may itself be put back later: a second pass
    // over what is left.
    for _ in 0..2 {
        for (entry, values) in values.iter_mut().enumerate().rev() {
            if !journal.entries[entry].done {
                *values = undo(&files, &mut journal, entry);
            }
        }
    }
    for entry in 0..journal.entries.len() {
        if !journal.entries[entry].done {
            remember(&files, &mut journal, entry);
        }
    }
    restored.values = values.into_iter().rev().flatten().collect();
    restored.pending = journal.pending() > 0;
    // For later questions; the journal itself is what counts.
    let _ = leave_record(state, by, &restored);
    if !restored.pending
        && let Err(error) = journal.remove()
    {
        restored.remarks.push(format!("the journal can't be removed: {error}"));
    }
    restored
}

/// Leaves a record of the last restore: by which user, when, and what became of
/// each value.
fn leave_record(state: &StateDir, by: &str, restored: &Restored) -> io::Result<()> {
    #[derive(Serialize)]
    struct Last<'a> {
        by: &'a str,
        unix_ms: u64,
        restored: &'a Restored,
    }
    let temporary = state.path.join("last-restore.new");
    let mut text =
        model::json::to_indented_json(&Last { by, unix_ms: sys::realtime_unix_ms(), restored })?;
    text.push('\n');
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(&temporary)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temporary, state.path.join("last-restore")));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&temporary);
    }
    written?;
    journal::sync(&state.path)
}
