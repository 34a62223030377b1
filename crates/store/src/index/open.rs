//! Opens the index by the best way there is, and reopens it after a fault.

use super::fault::IndexFault;
use super::file;
use super::file::Opened;
use crate::{Store, StoreError};
use model::phrases::counted;
use std::path::PathBuf;

pub(super) struct IndexState {
    pub(super) opened: Opened,
    /// It is in memory, of all documents as they were then.
    pub(super) in_memory: bool,
    /// Why its file can't be written, if so.
    pub(super) why: Option<String>,
}

impl IndexState {
    /// Whether what is asked comes of a file that may be written, too.
    pub(super) fn is_writable(&self) -> bool {
        !self.in_memory && self.opened.frozen.is_none()
    }
}

/// The index by the best way there is: its file; its file as it is, where
/// nothing can be written; all documents.
pub(super) fn open_best(
    store: &Store,
    broken: Option<(PathBuf, String)>,
    messages: &mut Vec<String>,
) -> Result<IndexState, StoreError> {
    let state = best(store, broken, messages)?;
    let agreed = &state.opened.agreed;
    if agreed.unread > 0 {
        messages.push(unreadable(agreed.unread));
    }
    messages.extend(agreed.not_read.as_ref().map(ToString::to_string));
    Ok(state)
}

fn best(
    store: &Store,
    broken: Option<(PathBuf, String)>,
    messages: &mut Vec<String>,
) -> Result<IndexState, StoreError> {
    if !file::newest(store.data_dir()).exists() && store.is_empty()? {
        return memory(store, None);
    }
    let known_broken = broken.is_some();
    let fault = match file::open_file(store, broken, messages) {
        Ok(opened) => {
            return Ok(IndexState { opened, in_memory: false, why: None });
        }
        Err(IndexFault::Store(error)) => return Err(error),
        Err(fault) => fault,
    };
    let why = Some(fault.to_string());
    if !known_broken
        && !matches!(fault, IndexFault::Newer(_))
        && let Ok(opened) = file::open_frozen(store)
    {
        return Ok(IndexState { opened, in_memory: false, why });
    }
    messages.push(format!(
        "the index {} can't be used; reading the documents instead, which is slower: {fault}",
        file::newest(store.data_dir()).display()
    ));
    memory(store, why)
}

fn memory(store: &Store, why: Option<String>) -> Result<IndexState, StoreError> {
    match file::in_memory(store) {
        Ok(opened) => Ok(IndexState { opened, in_memory: true, why }),
        Err(IndexFault::Store(error)) => Err(error),
        Err(other) => Err(StoreError::Index {
            path: file::newest(store.data_dir()),
            cause: other.to_string(),
        }),
    }
}

fn unreadable(count: usize) -> String {
    format!("{} can't be read: latlas atlas verify shows why", counted(count, "document"))
}

impl Opened {
    /// Whether an answer counts: a file read without locks is as it was.
    pub(super) fn is_as_it_was(&self) -> bool {
        self.frozen.is_none() || file::frozen(&self.path) == self.frozen
    }
}
