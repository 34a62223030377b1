// Threads of tests may panic where there are none.
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![forbid(unsafe_code)]
//! Where runs are kept: one immutable file a run under the platform's data
//! directory, named so that they sort by time; or, with `remote/`, by another
//! program that this asks. `index/` answers what is asked of all of them.

pub mod baseline;
mod crash;
mod directory;
mod document;
mod documents;
mod error;
pub mod exchange;
mod give_up;
pub mod history;
mod horizon;
pub mod index;
pub mod operand;
mod place;
mod remote;
mod run_names;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod suite;
mod tags;
#[cfg(test)]
mod tests;
mod transfer;
mod whole;
mod write;

pub use document::{
    MAX_DOCUMENT_BYTES, Refused, from_bytes, from_bytes_within, is_in_future, is_packed,
    read_as_it_is, read_run, read_with_bytes, to_json,
};
pub(crate) use document::{as_shown, read_kept};
pub use error::{DatabaseFailure, FileAction, StoreError};
pub use place::{Place, data_dir, keep_in};
pub use run_names::{LastOf, PassedOver, named_passing, path_named};
pub use tags::{Tag, Taken, check_tag};
pub use transfer::{Moved, Stayed, transfer};
pub use whole::{NotWhole, not_whole};
pub use write::{Output, packed, replace, write_bytes, write_run};

use directory::{Directory, files_in};
use documents::Documents;
use error::io;
pub use give_up::give_up_when;
use horizon::Horizon;
pub(crate) use horizon::horizon_ms;
use model::phrases::short_id;
use model::run::Run;
use model::utc;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use sys::input;

/// Kept runs, in a directory or a database.
#[derive(Clone, Debug)]
pub struct Store {
    /// Where the files of documents lie, or the copies of those in a database.
    runs: PathBuf,
    documents: Arc<dyn Documents>,
}

impl Store {
    /// The user's store: the one that [`keep_in`] or the environment names, else the platform's
    /// data directory. One in a database is not asked before it is used.
    pub fn of_user() -> Result<Store, StoreError> {
        Store::at(&Place::of_user()?)
    }

    /// The store at a place. One in a database is not asked before it is used.
    pub fn at(place: &Place) -> Result<Store, StoreError> {
        match place {
            Place::Directory(path) => Ok(Store::in_directory(path)),
            Place::Database(url) => remote::store(url),
        }
    }

    /// The store in a data directory, which need not exist yet.
    pub fn in_directory(data_dir: &Path) -> Store {
        Store { runs: data_dir.join("runs"), documents: Arc::new(Directory::at(data_dir)) }
    }

    pub fn place(&self) -> Place {
        self.documents.place()
    }

    /// Whether a database keeps them.
    pub fn is_database(&self) -> bool {
        matches!(self.place(), Place::Database(_))
    }

    /// Where everything lies that is kept as files.
    pub(crate) fn data_dir(&self) -> &Path {
        self.runs.parent().unwrap_or(&self.runs)
    }

    /// Where the files of documents lie, or the copies of those in a database.
    pub fn runs_dir(&self) -> &Path {
        &self.runs
    }

    /// A document as messages name it: in a database by its id and the URL without a password.
    pub fn display_path(&self, path: &Path) -> String {
        match (self.place(), self.id_of(path)) {
            (database @ Place::Database(_), Some(id)) => {
                format!("{} in {database}", short_id(&id))
            }
            _ => path.display().to_string(),
        }
    }

    /// Where runs are kept, as messages name it: the directory of documents, or a URL without a
    /// password.
    pub fn location(&self) -> PathBuf {
        match self.place() {
            Place::Directory(_) => self.runs.clone(),
            database => database.to_string().into(),
        }
    }

    /// Keeps a run and says where. Kept runs never change; only a document that
    /// can't be read gives its place to one of the same id that can.
    pub fn save(&self, run: &Run) -> Result<PathBuf, StoreError> {
        self.documents.save_bytes(run, &write::packed(run)?)
    }

    /// Finds out before measuring whether a run could be kept: a minute must not
    /// be lost to a directory that can't be written, to a full disk, or to a database that
    /// doesn't answer. Makes the directory or tables where there are none.
    pub fn check_keepable(&self) -> Result<(), StoreError> {
        self.documents.check_keepable()
    }

    /// Paths of all kept runs, the oldest first; one that says that it began in the future has
    /// the place of when it was kept. Those in a database need not be there as files: [`read_run`] and
    /// [`bytes`](Store::bytes) read them.
    pub fn paths(&self) -> Result<Vec<PathBuf>, StoreError> {
        self.paths_at(SystemTime::now())
    }

    fn paths_at(&self, now: SystemTime) -> Result<Vec<PathBuf>, StoreError> {
        self.documents.paths_at(now)
    }

    /// The bytes of a document.
    pub fn bytes(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        self.documents.copied_bytes(path)
    }

    /// Id of the kept run whose document lies there; `None` for a file outside
    /// the store.
    pub fn id_of(&self, path: &Path) -> Option<String> {
        let own = |dir: &Path| dir.canonicalize().ok();
        // A bare name lies in the current directory; that of copies need not be there.
        let dir = write::directory(path);
        let inside = dir == self.runs || own(dir)? == own(&self.runs)?;
        id_in_name(path).filter(|_| inside).map(str::to_owned)
    }

    /// Whether no run is kept.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.paths()?.is_empty())
    }

    /// Every file in the directory of runs, whatever its name is.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, StoreError> {
        files_in(&self.runs)
    }

    /// Removes the document of a kept run, for good.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), StoreError> {
        self.documents.remove(path)
    }

    /// Files that writers of runs and tags left behind that were killed.
    pub(crate) fn left_over(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut files = match self.is_database() {
            // There may be no directory for copies.
            true => self.files().unwrap_or_default(),
            false => self.files()?,
        };
        files.extend(
            files_in(&self.data_dir().join("tags"))
                .or_else(|e| if self.is_database() { Ok(Vec::new()) } else { Err(e) })?,
        );
        files.retain(|path| write::is_left_over(path));
        Ok(files)
    }

    /// Removes them and says how many there were.
    pub(crate) fn clear_left_over(&self) -> Result<usize, StoreError> {
        let files = self.left_over()?;
        for path in &files {
            match write::remove(path) {
                Err(e) if e.kind() != ErrorKind::NotFound => {
                    return Err(io(FileAction::Remove, path)(e));
                }
                _ => {}
            }
        }
        Ok(files.len())
    }

    /// Path of the newest kept run, as [`newest`](Store::newest).
    pub fn last(&self) -> Result<PathBuf, StoreError> {
        self.back(0)
    }

    /// Path of the kept run that is so many before the newest, as
    /// [`newest`](Store::newest).
    pub fn back(&self, back: usize) -> Result<PathBuf, StoreError> {
        self.newest(back, LastOf::All).map(|(path, _)| path)
    }

    /// Path of the kept run that is so many before the newest of these, and what was
    /// passed over on the way: runs that were interrupted or found nothing, and documents that
    /// hold no run that can be read, are not counted, nor are times to come believed.
    ///
    /// # Errors
    /// If there are fewer, or the system failed to read a newer one: it may be the one.
    pub fn newest(&self, back: usize, of: LastOf) -> Result<(PathBuf, PassedOver), StoreError> {
        let paths = self.paths()?;
        let horizon = Horizon::at(SystemTime::now());
        let in_future = paths.iter().filter(|path| horizon.is_beyond(path));
        let mut passed = PassedOver {
            in_future: in_future.filter_map(|path| id_in_name(path)).map(str::to_owned).collect(),
            ..PassedOver::default()
        };
        let mut count = 0;
        for path in paths.iter().rev() {
            let id = id_in_name(path).unwrap_or_default();
            match self.candidate(path)? {
                Candidate::Run(run) => match not_whole(&run) {
                    Some(why) => passed.not_whole.push((id.to_owned(), why)),
                    None if !of.includes(&run) => passed.of_others.push(id.to_owned()),
                    None if count == back => return Ok((path.clone(), passed)),
                    None => count += 1,
                },
                Candidate::Gone => {}
                Candidate::Unreadable(why) => {
                    // It is no run, whatever its name says.
                    passed.in_future.retain(|own| own != id);
                    passed.unreadable.push((self.display_path(path), why));
                }
            }
        }
        if of == LastOf::RowsIfAny && count == 0 && !passed.of_others.is_empty() {
            return self.newest(back, LastOf::All);
        }
        let path = self.location();
        let PassedOver { not_whole, of_others, unreadable, .. } = &passed;
        Err(match (count, not_whole.len(), unreadable.first()) {
            (0, ..) if !of_others.is_empty() => StoreError::NoneOfRows(path),
            (0, 0, None) => StoreError::Empty(path),
            (0, 0, Some((first, why))) => StoreError::NoneReadable {
                path,
                count: unreadable.len(),
                why: format!("{first}: {why}"),
            },
            (0, not_whole, _) => {
                StoreError::NoneWhole { path, count: not_whole, unreadable: unreadable.len() }
            }
            _ => StoreError::TooFarBack { back, path, count },
        })
    }

    /// What a document is to someone who asks for the newest run.
    fn candidate(&self, path: &Path) -> Result<Candidate, StoreError> {
        let bytes = match self.bytes(path) {
            Ok(bytes) => bytes,
            Err(StoreError::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound => {
                return Ok(Candidate::Gone);
            }
            // Another user's stays closed to this one.
            Err(StoreError::Io { cause, .. })
                if input::is_not_a_file(&cause) || cause.kind() == ErrorKind::PermissionDenied =>
            {
                return Ok(Candidate::Unreadable(cause.to_string()));
            }
            Err(other) => return Err(other),
        };
        let run = match from_bytes(&bytes) {
            Ok(run) => run,
            Err(refused) => return Ok(Candidate::Unreadable(refused.to_string())),
        };
        let id = id_in_name(path).unwrap_or_default();
        Ok(match index::entry::check_fits(&run, id) {
            Ok(()) => Candidate::Run(Box::new(run)),
            Err(why) => Candidate::Unreadable(why.to_string()),
        })
    }

    /// Path of the one kept run whose id begins so.
    pub fn find(&self, prefix: &str) -> Result<PathBuf, StoreError> {
        let mut found = self.documents.paths_of(prefix)?;
        let first = found.first().and_then(|path| id_in_name(path));
        if let Some(id) = first.map(str::to_owned)
            && found.len() > 1
            && found.iter().all(|path| id_in_name(path) == Some(&id))
        {
            return Err(StoreError::Twice { id, paths: found });
        }
        let (prefix, path) = (prefix.to_owned(), self.location());
        match (found.len(), found.pop()) {
            (1, Some(only)) => Ok(only),
            (0, _) => Err(StoreError::NoSuchRun { prefix, path }),
            (count, _) => Err(StoreError::Ambiguous { prefix, path, count }),
        }
    }
}

/// What a document is to someone who asks for the newest run.
enum Candidate {
    Run(Box<Run>),
    /// Deleted in between.
    Gone,
    /// It holds no run that can be read, and why.
    Unreadable(String),
}

fn file_of(run: &Run) -> Result<String, StoreError> {
    // The id becomes part of a file name.
    if !document::is_id(&run.id) {
        return Err(StoreError::Unwritable(format!("its id {:?} is not a UUID", run.id)));
    }
    let stamp = utc::stamp(run.started_unix_ms);
    Ok(format!("{stamp}-{}.json.zst", run.id))
}

fn kept_already(path: &Path) -> StoreError {
    StoreError::Io {
        action: FileAction::Write,
        path: path.to_owned(),
        cause: std::io::Error::new(
            ErrorKind::AlreadyExists,
            "a run of this id is already kept, and kept runs never change",
        ),
    }
}

/// Stamp and id in the name of a kept run; `None` for any other file.
fn parts_of_name(path: &Path) -> Option<(&str, &str)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".json.zst")?;
    stem.split_once('-').filter(|(_, id)| document::is_id(id))
}

pub(crate) fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

pub(crate) fn id_in_name(path: &Path) -> Option<&str> {
    parts_of_name(path).map(|(_, id)| id)
}
