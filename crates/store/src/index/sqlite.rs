//! The index of documents in a directory: a SQLite file.

use super::agree::Refilled;
use super::answers::{Answers, Quantities};
use super::change::{self, Rebuilt};
use super::fault::Fault;
use super::fill::NotRead;
use super::open::{State, open};
use super::standing::{Percentile, RowStanding};
use super::verify::Verified;
use super::{agree, file, questions, verify};
use crate::{Store, StoreError, write};
use model::run::Run;
use model::summary::{KeptResult, KeptRun, MachineKey};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The index in SQLite. Threads that share it ask one at a time.
pub(super) struct Sqlite {
    pub(super) store: Store,
    state: Mutex<State>,
    messages: Mutex<Vec<String>>,
}

impl Sqlite {
    /// Opened and brought up to date.
    pub(super) fn open(store: Store) -> Result<Sqlite, StoreError> {
        let mut messages = Vec::new();
        let state = open(&store, None, &mut messages)?;
        Ok(Sqlite::of(store, state, messages))
    }

    pub(super) fn of(store: Store, state: State, messages: Vec<String>) -> Sqlite {
        Sqlite { store, state: Mutex::new(state), messages: Mutex::new(messages) }
    }

    /// Asks; an index that turns out to be broken is made anew, and the
    /// question asked once more.
    fn ask<T>(
        &self,
        question: impl Fn(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut state = self.lock();
        let answer = match question(&state.opened.db) {
            Ok(answer) if state.opened.is_as_it_was() => return Ok(answer),
            Ok(_) => Err(Fault::Stale),
            Err(error) => Err(Fault::Sql(error)),
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(fault) if state.in_memory => Err(self.unusable(&state, &fault.to_string())),
            Err(fault) => {
                self.reopen(&mut state, &fault)?;
                question(&state.opened.db).map_err(|e| self.unusable(&state, &e.to_string()))
            }
        }
    }

    /// After a fault: the index anew, or in memory.
    fn reopen(&self, state: &mut State, fault: &Fault) -> Result<(), StoreError> {
        let broken = fault.is_broken() && state.is_writable();
        let broken = broken.then(|| (state.opened.path.clone(), fault.to_string()));
        let mut messages = Vec::new();
        *state = open(&self.store, broken, &mut messages)?;
        messages.into_iter().for_each(|line| self.add_message(line));
        Ok(())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_message(&self, line: String) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn unusable(&self, state: &State, cause: &str) -> StoreError {
        StoreError::Index { path: state.opened.path.clone(), cause: cause.to_owned() }
    }
}

impl Answers for Sqlite {
    fn runs(&self) -> Result<Vec<KeptRun>, StoreError> {
        self.ask(|db| questions::runs(db, self.store.runs_dir()))
    }

    fn run(&self, id: &str) -> Result<Option<KeptRun>, StoreError> {
        self.ask(|db| questions::run(db, self.store.runs_dir(), id))
    }

    fn history(
        &self,
        machine: &MachineKey,
        row: &str,
        at: &[u64],
    ) -> Result<Vec<(KeptRun, KeptResult)>, StoreError> {
        self.ask(|db| questions::history(db, self.store.runs_dir(), (machine, row, at)))
    }

    fn results_of(&self, id: &str) -> Result<Vec<KeptResult>, StoreError> {
        self.ask(|db| questions::results_of(db, id))
    }

    fn figures_of(&self, ids: &[&str]) -> Result<Vec<(usize, KeptResult)>, StoreError> {
        self.ask(|db| questions::figures_of(db, ids))
    }

    fn quantities(&self, machine: Option<&MachineKey>) -> Result<Quantities, StoreError> {
        self.ask(|db| questions::quantities(db, machine))
    }

    fn percentiles(&self, machine: &MachineKey) -> Result<Vec<Percentile>, StoreError> {
        self.ask(|db| questions::percentiles(db, machine))
    }

    fn standing(&self, row: &str, at: &[u64]) -> Result<RowStanding, StoreError> {
        self.ask(|db| questions::standing(db, row, at))
    }

    fn keep(&self, run: &Run) -> Result<PathBuf, StoreError> {
        let bytes = write::packed(run)?;
        let mut state = self.lock();
        let documents = &self.store.documents;
        let path = match questions::may_know(&state.opened.db, &run.id) {
            // One that the system failed to read is not known.
            Ok(false) if state.opened.agreed.not_read.is_none() => {
                documents.save_new(run, &bytes)?
            }
            _ => documents.save_bytes(run, &bytes)?,
        };
        if state.in_memory && state.why.is_none() {
            // It is the first run: now there is something to have a file of.
            let mut messages = Vec::new();
            match open(&self.store, None, &mut messages) {
                Ok(opened) => *state = opened,
                Err(error) => messages.push(error.to_string()),
            }
            messages.into_iter().for_each(|line| self.add_message(line));
        } else if let Err(fault) = change::put(&state.opened.db, run, &path) {
            self.add_message(change::later(&fault));
        }
        Ok(path)
    }

    fn forget(&self) {
        let state = self.lock();
        if let Err(fault) = agree::agree(&state.opened.db, &self.store) {
            self.add_message(format!(
                "the run is deleted; the index will drop it on its next use: {fault}"
            ));
        }
    }

    fn refresh(&self) -> Result<(), StoreError> {
        let mut state = self.lock();
        match agree::agree(&state.opened.db, &self.store) {
            Ok(agreed) => {
                let known = &mut state.opened.agreed.not_read;
                // Not said at every look.
                if *known != agreed.not_read {
                    *known = agreed.not_read;
                    known.iter().for_each(|now| self.add_message(now.to_string()));
                }
                Ok(())
            }
            Err(fault) => self.reopen(&mut state, &fault),
        }
    }

    fn rebuild(&self) -> Result<Rebuilt, StoreError> {
        let mut state = self.lock();
        if !state.is_writable() {
            // It may be writable by now, or the first run kept.
            *state = open(&self.store, None, &mut Vec::new())?;
        }
        if let Some(cause) = &state.why {
            return Err(StoreError::IndexUnwritable {
                path: state.opened.path.clone(),
                cause: cause.clone(),
            });
        }
        if state.in_memory {
            return Ok(Rebuilt { left_over: self.store.clear_left_over()?, ..Rebuilt::default() });
        }
        let refilled = agree::refill(&state.opened.db, &self.store).or_else(|fault| {
            if !fault.is_broken() {
                return Err(fault);
            }
            let broken = Some((state.opened.path.clone(), fault.to_string()));
            state.opened = file::open(&self.store, broken, &mut Vec::new())?;
            Ok(Refilled::Anew(state.opened.agreed.clone()))
        });
        let refilled = refilled.map_err(|fault| match fault {
            Fault::Store(error) => error,
            other => StoreError::IndexUnwritable {
                path: state.opened.path.clone(),
                cause: other.to_string(),
            },
        })?;
        let left_over = self.store.clear_left_over()? + file::clear_older(&state.opened.path);
        Ok(match refilled {
            Refilled::Anew(agreed) => Rebuilt {
                documents: agreed.added,
                unreadable: agreed.unread,
                not_read: agreed.not_read,
                left_unchanged: false,
                left_over,
            },
            Refilled::Unchanged { documents, unread, not_read } => Rebuilt {
                documents,
                unreadable: unread,
                not_read: Some(not_read),
                left_unchanged: true,
                left_over,
            },
        })
    }

    fn verify(&self) -> Result<Verified, StoreError> {
        let state = self.lock();
        verify::verify(&state.opened.db, &self.store)
    }

    fn not_read(&self) -> Option<NotRead> {
        self.lock().opened.agreed.not_read.clone()
    }

    fn path(&self) -> PathBuf {
        self.lock().opened.path.clone()
    }

    fn in_memory(&self) -> bool {
        self.lock().in_memory
    }

    fn messages(&self) -> Vec<String> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
