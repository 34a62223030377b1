//! System-wide values set for a while, and restored exactly.
//!
//! Before a change ([`apply`]), old and new values are on the disk ([`journal`]);
//! what is written is read back; a watchdog process restores everything if this one is
//! killed ([`watchdog`]); and a restored value leaves the journal only when it
//! was read back as before ([`restore`]). Every step can be interrupted
//! anywhere and resumed.

mod apply;
mod faults;
pub(crate) mod item;
pub(crate) mod journal;
mod late;
mod meaning;
mod pending;
mod plan;
mod report;
mod restore;
pub(crate) mod side_effects;
mod state;
mod undo;
pub mod watchdog;
mod whitelist;

pub use faults::Faults;
pub use pending::pending;
pub use plan::{NotSettable, PlanError, cpu_online, not_settable, plan};
pub use report::{Applied, BackOutcome, PutBack, Restored, SetOutcome};
pub use restore::restore;
pub use state::{StateDir, VARIABLE};

use crate::change::Change;
use faults::Faulty;
use journal::{FoundJournal, Here, Journal, Unusable};
use state::{Lock, boot_id};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use sys::files::Files;

/// For a watchdog that puts back right now, in ms.
const PATIENCE: Duration = Duration::from_millis(500);

/// One thing to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A value. Taking a CPU offline (`cpuN/online`, `smt/control`) is one
    /// too: what the kernel changes by the way is put back with it.
    Set(Change),
    /// A cpuset shield on these CPUs.
    Shield {
        /// Rising.
        cpus: Vec<u32>,
    },
}

/// Why nothing could be begun. Nothing is changed then.
#[derive(thiserror::Error, Debug)]
#[non_exhaustive]
pub enum TuneError {
    #[error("the state directory {path} can't be used: {why}")]
    StateDirectory { path: PathBuf, why: String },
    #[error(
        "another latlas ({holder}) has set values of this machine or restores them (lock {path}): wait for its end"
    )]
    Busy {
        path: PathBuf,
        /// Which process, in words.
        holder: String,
    },
    #[error("an earlier tune is not restored yet: run `latlas noise restore` first")]
    Pending,
    #[error("can't identify this boot: {why} (is /proc mounted?)")]
    NoBootId { why: String },
    /// The journal that is there is no good.
    #[error("{0}")]
    Unusable(String),
    #[error("can't write the journal: {0}; nothing was changed")]
    Journal(io::Error),
    #[error("can't write the journal any more: {error}; {what}")]
    Broken {
        error: io::Error,
        /// What became of the values, in words.
        what: String,
        restored: Box<Restored>,
    },
    #[error("can't start the watchdog: {0}; nothing was changed")]
    Watchdog(io::Error),
}

impl From<Unusable> for TuneError {
    fn from(unusable: Unusable) -> TuneError {
        TuneError::Unusable(unusable.to_string())
    }
}

/// Values that are set. They are put back by [`restore`](Tuned::restore), or
/// when this is dropped; they stay after [`leave`](Tuned::leave).
pub struct Tuned<'f> {
    files: &'f dyn Files,
    state: StateDir,
    /// Nothing once it is put back or left.
    journal: Option<Journal>,
    watchdog: Option<sys::role::Watchdog>,
    // Let go of last: declared after what works under it.
    _lock: Lock,
    applied: Vec<Applied>,
    groups: Vec<PathBuf>,
    set_aside: Option<PathBuf>,
}

impl<'f> Tuned<'f> {
    /// Sets these, one after the other. One that fails is put back and stops no
    /// other; [`applied`](Tuned::applied) tells.
    ///
    /// # Errors
    /// If nothing can be begun, or the journal can't be written any more: then
    /// what was set is put back.
    pub fn begin(
        files: &'f dyn Files,
        state: &StateDir,
        what: &[Step],
    ) -> Result<Tuned<'f>, TuneError> {
        let boot_id = boot_id(files)?;
        state.prepare()?;
        let lock = state.lock(PATIENCE)?;
        let here = Here { boot_id: &boot_id, root: &state.root };
        let set_aside = match Journal::open_first(&state.directories(), here, &state.faults)? {
            None => None,
            Some(FoundJournal::OfAnotherBoot(stale)) => {
                Some(stale.set_aside().map_err(TuneError::Journal)?)
            }
            Some(FoundJournal::Ours(_)) => return Err(TuneError::Pending),
        };
        let watchdog = match state.watched {
            true => Some(watchdog::start(state).map_err(TuneError::Watchdog)?),
            false => None,
        };
        let process = std::process::id();
        let journal = Journal::create(&state.directories(), here, process, &state.faults)
            .map_err(TuneError::Journal)?;
        let mut tuned = Tuned {
            files,
            state: state.clone(),
            journal: Some(journal),
            watchdog,
            _lock: lock,
            applied: Vec::new(),
            groups: Vec::new(),
            set_aside,
        };
        match tuned.apply(what) {
            Ok(()) => Ok(tuned),
            Err(error) => {
                let restored = tuned.put_back("tune");
                let what = match restored.complete() {
                    true => "what was set is restored",
                    false => "not everything could be restored: run `latlas noise restore`",
                };
                Err(TuneError::Broken { error, what: what.into(), restored: Box::new(restored) })
            }
        }
    }

    fn apply(&mut self, what: &[Step]) -> io::Result<()> {
        let files = Faulty { inner: self.files, faults: self.state.faults.clone() };
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        for step in what {
            match step {
                Step::Set(change) => self.applied.push(apply::set_value(&files, journal, change)?),
                Step::Shield { cpus } => {
                    let (applied, group) = apply::shield(&files, journal, cpus)?;
                    self.applied.push(applied);
                    self.groups.extend(group.map(PathBuf::from));
                }
            }
        }
        Ok(())
    }

    /// What became of each step, in their order.
    pub fn applied(&self) -> &[Applied] {
        &self.applied
    }

    /// Control groups to join for the process that is to run in the shield; empty
    /// without one.
    pub fn shield_groups(&self) -> Vec<PathBuf> {
        self.groups.clone()
    }

    /// Where a journal of another boot was put, if there was one.
    pub fn set_aside(&self) -> Option<&std::path::Path> {
        self.set_aside.as_deref()
    }

    /// Puts everything back.
    pub fn restore(mut self) -> Restored {
        self.put_back("tune")
    }

    /// Leaves everything set, for [`restore`] to put back later.
    pub fn leave(mut self) -> io::Result<()> {
        let mut journal = self.journal.take();
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.dismiss();
        }
        if let Some(journal) = &mut journal {
            // What could not be taken back is not touched by us from here on.
            for entry in 0..journal.entries.len() {
                if !journal.entries[entry].done && journal.entries[entry].undoing.is_some() {
                    undo::remember(self.files, journal, entry);
                }
            }
        }
        match journal {
            // Nothing was set: nothing waits.
            Some(journal) if journal.pending() == 0 => journal.remove(),
            _ => Ok(()),
        }
    }

    fn put_back(&mut self, by: &str) -> Restored {
        let restored = match self.journal.take() {
            Some(journal) => restore::put_back(self.files, &self.state, journal, by),
            None => Restored::default(),
        };
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.dismiss();
        }
        restored
    }
}

impl Drop for Tuned<'_> {
    /// A panic is the watchdog's: nothing that is broken should go on here.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.put_back("tune");
        }
    }
}
