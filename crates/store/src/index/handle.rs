//! The index of a store, opened once and shared between threads.

use super::agree::none_readable;
use super::answers::Answers;
use super::sqlite::Sqlite;
use super::verify::Verified;
use crate::{Store, StoreError};
use std::path::PathBuf;
use std::sync::Arc;

/// The kept runs with their index. May be shared between threads; each other
/// process or thread may open its own.
pub struct Index {
    pub(super) store: Store,
    pub(super) answers: Arc<dyn Answers>,
}

impl Index {
    /// The index of a store, brought up to date. Where nothing is kept in a directory yet,
    /// nothing is made; a database gets its tables.
    ///
    /// # Errors
    /// If the store can't be read.
    pub fn open(store: Store) -> Result<Index, StoreError> {
        #[cfg(feature = "postgres")]
        if let Some(answers) = crate::postgres::answers(&store)? {
            return Ok(Index { store, answers });
        }
        let answers = Arc::new(Sqlite::open(store.clone())?);
        Ok(Index { store, answers })
    }

    /// What opening and asking had to repair, a line each; every line is
    /// handed out once.
    pub fn messages(&self) -> Vec<String> {
        self.answers.messages()
    }

    /// The documents.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether the documents had to be read, since the index can't be used.
    pub fn in_memory(&self) -> bool {
        self.answers.in_memory()
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
        if let Some(not_read) = self.answers.not_read() {
            return Err(none_readable(&self.store, &not_read));
        }
        match self.store.paths()?.len() {
            0 => Ok(()),
            count => Err(StoreError::NoneReadable {
                path: self.store.location(),
                count,
                why: "latlas atlas verify says why".into(),
            }),
        }
    }

    /// Finds what others have added or removed since it was opened: only for
    /// a process that keeps it open.
    ///
    /// # Errors
    /// If the store can't be read.
    pub fn refresh(&self) -> Result<(), StoreError> {
        self.answers.refresh()
    }

    /// Reads every document wholly and compares the index with it, row by row.
    /// Deletes and mends nothing.
    ///
    /// # Errors
    /// If the documents can't be listed.
    pub fn verify(&self) -> Result<Verified, StoreError> {
        self.answers.verify()
    }

    /// Where the index's file is, or would be; the URL of a database.
    pub fn path(&self) -> PathBuf {
        self.answers.path()
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("store", &self.store).finish_non_exhaustive()
    }
}
