//! What changes the kept runs: keep, tag, delete, rebuild.

use super::agree::Refilled;
use super::entry::{IndexEntry, NotRead};
use super::fault::IndexFault;
use super::handle::Index;
use super::open::open_best;
use super::{agree, entry, file, questions};
use crate::{Store, StoreError, Taken, as_shown, crash, name_of, write};
use model::run::Run;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a rebuild came to.
#[derive(Serialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Documents that the index holds now.
    pub documents: usize,
    /// Documents that can't be read: [`Index::verify`] names them.
    pub unreadable: usize,
    /// Documents that the system failed to read.
    pub not_read: Option<NotRead>,
    /// Whether the index was left as it was, since it holds runs of those.
    pub left_unchanged: bool,
    /// Files removed that killed writers left behind.
    pub left_over: usize,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Deleted {
    pub id: String,
    /// Its document, which is gone.
    pub path: PathBuf,
    /// Tags that went with it.
    pub tags: Vec<String>,
}

/// A log of some twelve runs, which takes less time to read than to move.
pub(super) const SHORT_LOG_BYTES: u64 = 1 << 20;

/// Keeps a run without asking anything of the index: the run is kept as soon
/// as its document is durable. Returns its path and, in a line each, what went
/// wrong with the index, which is put right when it is asked the next time.
pub fn keep(store: &Store, run: &Run) -> Result<(PathBuf, Vec<String>), StoreError> {
    let bytes = write::packed(run)?;
    let path = store.documents.save_bytes(run, &bytes)?;
    crash::point("document kept");
    let mut messages = Vec::new();
    let opened = file::open_as_it_is(store, None, &mut messages);
    let mark = store.documents.mark_of(&bytes);
    let put_last = |opened: file::Opened| {
        // The last to close the index moves its log into its file, with two syncs: the next question may. But each
        // that opens it reads the whole log.
        let is_short = file::log_bytes(&opened.path) < SHORT_LOG_BYTES;
        opened.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_short)?;
        put(&opened.db, run, &path, mark)
    };
    match opened.and_then(put_last) {
        // One that is never used, and said so where it is missed.
        Ok(()) | Err(IndexFault::Untrusted(_)) => {}
        Err(fault) => messages.push(later(&fault)),
    }
    Ok((path, messages))
}

fn put(db: &Connection, run: &Run, path: &Path, mark: Vec<u8>) -> Result<(), IndexFault> {
    if entry::check_fits(run, &run.id).is_err() {
        // Reported with its cause when the index is used again.
        return Ok(());
    }
    let entry = IndexEntry { mark, ..IndexEntry::from_run(&as_shown(run), &name_of(path)) };
    let change = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    agree::put_kept(&change, &entry)?;
    crash::point("run put in");
    change.commit()?;
    crash::point("index committed");
    Ok(())
}

pub(super) fn later(fault: &IndexFault) -> String {
    format!("the run is saved; the index will take it up on its next use: {fault}")
}

impl Index {
    /// Keeps a run: durable when this returns. That the index could not take
    /// it is a message, not a failure.
    ///
    /// # Errors
    /// If the document can't be written, or the run is kept already.
    pub fn keep(&self, run: &Run) -> Result<PathBuf, StoreError> {
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
            match open_best(&self.store, None, &mut messages) {
                Ok(opened) => *state = opened,
                Err(error) => messages.push(error.to_string()),
            }
            messages.into_iter().for_each(|line| self.add_message(line));
        } else if let Err(fault) = put(&state.opened.db, run, &path, documents.mark_of(&bytes)) {
            self.add_message(later(&fault));
        }
        Ok(path)
    }

    /// Gives a kept run (by its whole id) a name; `taken` says what becomes of
    /// runs that have it. Those that lost it are returned.
    pub fn tag(&self, id: &str, name: &str, taken: Taken) -> Result<Vec<String>, StoreError> {
        self.store.find(id)?;
        self.store.tag(name, id, taken)
    }

    /// Takes a tag away and says which runs had it.
    pub fn untag(&self, name: &str) -> Result<Vec<String>, StoreError> {
        self.store.untag(name)
    }

    /// Deletes a kept run by its whole id, with its tags: the document first,
    /// so that a kill in between leaves nothing that is half there. It need not
    /// be in the index: one that can't be read can be deleted.
    pub fn delete(&self, id: &str) -> Result<Deleted, StoreError> {
        let path = self.document_path(id)?;
        let mut tags = self.store.tags()?;
        tags.retain(|tag| tag.run == id);
        self.store.remove(&path)?;
        crash::point("document removed");
        let mut names = Vec::new();
        for tag in tags {
            match self.store.untag_run(&tag.name, id) {
                // Another process removed it in between.
                Ok(()) | Err(StoreError::NoSuchTag { .. }) => names.push(tag.name),
                Err(other) => return Err(other),
            }
        }
        crash::point("tags removed");
        let state = self.lock();
        if let Err(fault) = agree::agree(&state.opened.db, &self.store) {
            self.add_message(format!(
                "the run is deleted; the index will drop it on its next use: {fault}"
            ));
        }
        drop(state);
        Ok(Deleted { id: id.to_owned(), path, tags: names })
    }

    /// Makes the whole index anew from the documents, and what stands beside them in a database where
    /// it is not theirs; removes what killed writers left behind. Where nothing is kept, nothing is made.
    ///
    /// # Errors
    /// If none of the documents can be read or the index can't be written.
    pub fn rebuild(&self) -> Result<Rebuilt, StoreError> {
        let mut state = self.lock();
        if !state.is_writable() {
            // It may be writable by now, or the first run kept.
            *state = open_best(&self.store, None, &mut Vec::new())?;
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
            state.opened = file::open_as_it_is(&self.store, broken, &mut Vec::new())?;
            agree::refill(&state.opened.db, &self.store)
        });
        let refilled = refilled.map_err(|fault| match fault {
            IndexFault::Store(error) => error,
            other => StoreError::IndexUnwritable {
                path: state.opened.path.clone(),
                cause: other.to_string(),
            },
        })?;
        let left_over = self.store.clear_left_over()? + file::clear_older(&state.opened.path);
        Ok(match refilled {
            Refilled::Anew(agreed) => {
                if let Some(why) = &agreed.not_mended {
                    self.add_message(format!(
                        "an entry in the database stays wrong, and the indexes of other machines with it \
                         (rebuild as a user who may write): {why}"
                    ));
                }
                state.opened.agreed = agreed.clone();
                Rebuilt {
                    documents: agreed.added,
                    unreadable: agreed.unread,
                    not_read: agreed.not_read,
                    left_unchanged: false,
                    left_over,
                }
            }
            Refilled::Unchanged { documents, unread, not_read } => Rebuilt {
                documents,
                unreadable: unread,
                not_read: Some(not_read),
                left_unchanged: true,
                left_over,
            },
        })
    }
}
