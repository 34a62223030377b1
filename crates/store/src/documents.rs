//! What keeps documents and tags: files in a directory, or a database.

use crate::index::IndexEntry;
use crate::{Place, StoreError};
use model::run::Run;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// What keeps documents and tags. A document is named by the path of its file, or where a copy of
/// one in a database would lie.
pub(crate) trait Documents: Debug + Send + Sync {
    /// Where they are, as messages name it: without a password.
    fn place(&self) -> Place;

    /// Keeps a run in these bytes and names its document.
    fn save_bytes(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError>;

    /// The same of a run of whose id the index knows no document, which spares a look at all names.
    fn save_new(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        self.save_bytes(run, bytes)
    }

    /// The bytes of a document, from where it is kept.
    fn bytes_of(&self, path: &Path) -> Result<Vec<u8>, StoreError>;

    /// The same bytes, from a copy where that is good.
    fn copied_bytes(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        self.bytes_of(path)
    }

    /// Whether a run could be kept now.
    fn check_keepable(&self) -> Result<(), StoreError>;

    /// All documents, those of the oldest runs first ([`crate::horizon`]).
    fn paths_at(&self, now: SystemTime) -> Result<Vec<PathBuf>, StoreError>;

    /// Those whose id begins so, in the same order.
    fn paths_of(&self, prefix: &str) -> Result<Vec<PathBuf>, StoreError>;

    fn remove(&self, path: &Path) -> Result<(), StoreError>;

    fn tag_names(&self) -> Result<Vec<String>, StoreError>;

    /// What a tag holds, an id a line; `None` without such a tag.
    fn read_tag(&self, name: &str) -> Result<Option<String>, StoreError>;

    /// Makes a tag that is not there yet, and says whether it was not.
    fn create_tag(&self, name: &str, text: &str) -> Result<bool, StoreError>;

    fn write_tag(&self, name: &str, text: &str) -> Result<(), StoreError>;

    /// Removes a tag, and says whether it was there.
    fn remove_tag(&self, name: &str) -> Result<bool, StoreError>;

    /// All documents in any order, each with what tells it from another one that has its name since;
    /// nothing where documents never change.
    fn marked(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, StoreError> {
        let paths = self.paths_at(SystemTime::now())?;
        Ok(paths.into_iter().map(|path| (path, Vec::new())).collect())
    }

    /// That of a document of these bytes.
    fn mark_of(&self, _bytes: &[u8]) -> Vec<u8> {
        Vec::new()
    }

    /// What the index holds of documents, by their names, as their keepers wrote it beside them in this
    /// version of the index; without those that must be read themselves.
    fn entries(&self, _paths: &[PathBuf]) -> HashMap<String, IndexEntry> {
        HashMap::new()
    }

    /// Writes this beside the document that has this mark, where it is kept there.
    fn put_entry(&self, _path: &Path, _mark: &[u8], _entry: &IndexEntry) -> Result<(), StoreError> {
        Ok(())
    }
}

/// What keeps the documents whose copies would lie in a directory, for those that this process uses.
static COPIES: Mutex<BTreeMap<PathBuf, Arc<dyn Documents>>> = Mutex::new(BTreeMap::new());

/// Makes known whose copies a directory has.
pub(crate) fn know_copies(directory: &Path, of: Arc<dyn Documents>) {
    COPIES.lock().unwrap_or_else(PoisonError::into_inner).insert(directory.to_owned(), of);
}

/// The bytes of a document by the path of its copy; `None` for any other path.
pub(crate) fn copied_at(path: &Path) -> Option<Result<Vec<u8>, StoreError>> {
    let known = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    let of = known.get(path.parent()?).cloned();
    drop(known);
    Some(of?.copied_bytes(path))
}
