//! The index of a store, opened once and shared between threads: a SQLite file beside the
//! documents, or beside the copies of those in a database.

use super::agree::{self, none_readable};
use super::fault::IndexFault;
use super::open::{IndexState, open_best};
use super::verify::{self, Verified};
use crate::{Store, StoreError};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kept runs with their index. May be shared between threads, which ask one at a time; each
/// other process or thread may open its own.
pub struct Index {
    pub(super) store: Store,
    state: Mutex<IndexState>,
    messages: Mutex<Vec<String>>,
}

impl Index {
    /// The index of a store, brought up to date. Where nothing is kept in a directory yet,
    /// nothing is made.
    pub fn open(store: Store) -> Result<Index, StoreError> {
        let mut messages = Vec::new();
        let state = open_best(&store, None, &mut messages)?;
        Ok(Index::from_state(store, state, messages))
    }

    pub(super) fn from_state(store: Store, state: IndexState, messages: Vec<String>) -> Index {
        Index { store, state: Mutex::new(state), messages: Mutex::new(messages) }
    }

    /// Asks; an index that turns out to be broken is made anew, and the
    /// question asked once more.
    pub(super) fn ask<T>(
        &self,
        question: impl Fn(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut state = self.lock();
        let answer = match question(&state.opened.db) {
            Ok(answer) if state.opened.is_as_it_was() => return Ok(answer),
            Ok(_) => Err(IndexFault::Stale),
            Err(error) => Err(IndexFault::Sql(error)),
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
    pub(super) fn reopen(
        &self,
        state: &mut IndexState,
        fault: &IndexFault,
    ) -> Result<(), StoreError> {
        let broken = fault.is_broken() && state.is_writable();
        let broken = broken.then(|| (state.opened.path.clone(), fault.to_string()));
        let mut messages = Vec::new();
        *state = open_best(&self.store, broken, &mut messages)?;
        messages.into_iter().for_each(|line| self.add_message(line));
        Ok(())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add_message(&self, line: String) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn unusable(&self, state: &IndexState, cause: &str) -> StoreError {
        StoreError::Index { path: state.opened.path.clone(), cause: cause.to_owned() }
    }

    /// What opening and asking had to repair, a line each; every line is
    /// handed out once.
    pub fn messages(&self) -> Vec<String> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether the documents had to be read, since the index can't be used.
    pub fn in_memory(&self) -> bool {
        self.lock().in_memory
    }

    /// Checks that a run can be read where documents are stored: else there is a reason why nothing
    /// is found.
    ///
    /// # Errors
    /// If none of them can be read; if the store can't be read.
    pub fn check_readable(&self) -> Result<(), StoreError> {
        if !self.by_time()?.is_empty() {
            return Ok(());
        }
        if let Some(not_read) = &self.lock().opened.agreed.not_read {
            return Err(none_readable(&self.store, not_read));
        }
        match self.store.paths()?.len() {
            0 => Ok(()),
            count => Err(StoreError::NoneReadable {
                path: self.store.location(),
                count,
                why: "latlas atlas verify shows why".into(),
            }),
        }
    }

    /// Finds what others have added or removed since it was opened: only for
    /// a process that keeps it open.
    pub fn refresh(&self) -> Result<(), StoreError> {
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

    /// Reads every document wholly and compares the index with it, row by row.
    /// Deletes and mends nothing.
    pub fn verify(&self) -> Result<Verified, StoreError> {
        let state = self.lock();
        verify::verify(&state.opened.db, &self.store)
    }

    /// Where the index's file is, or would be.
    pub fn path(&self) -> PathBuf {
        self.lock().opened.path.clone()
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("store", &self.store).finish_non_exhaustive()
    }
}
