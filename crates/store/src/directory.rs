//! Documents and tags as files of a directory.

use crate::documents::Documents;
use crate::error::{FileAction, io};
use crate::horizon::Horizon;
use crate::{Place, StoreError, crash, document, file_of, id_in_name, kept_already, tags, write};
use model::run::Run;
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use sys::input;

/// Largest file of a tag that is read: it holds an id.
const MAX_TAG_BYTES: u64 = 1 << 12;

/// The directory below which `runs` and `tags` lie.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    known: Mutex<KnownIds>,
}

/// Ids in the names of documents.
#[derive(Debug, Default)]
struct KnownIds {
    ids: HashSet<String>,
    /// When their directory had these, by its time of modification.
    changed: Option<SystemTime>,
    #[cfg(test)]
    listings: usize,
}

impl Directory {
    pub(crate) fn at(path: &Path) -> Directory {
        Directory { path: path.to_owned(), known: Mutex::default() }
    }

    fn runs_directory(&self) -> PathBuf {
        self.path.join("runs")
    }

    fn tag(&self, name: &str) -> PathBuf {
        self.path.join("tags").join(name)
    }

    fn known(&self) -> MutexGuard<'_, KnownIds> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the directory of documents was changed.
    fn changed(&self) -> Option<SystemTime> {
        std::fs::metadata(self.runs_directory()).ok()?.modified().ok()
    }

    /// Whether no document has this id. Names are listed only where another program changed the
    /// directory since, so that what it takes to keep one of many runs does not grow with them.
    fn is_new(&self, id: &str) -> Result<bool, StoreError> {
        let mut known = self.known();
        let changed = self.changed();
        if changed.is_none() || known.changed != changed {
            let files = files_in(&self.runs_directory())?;
            let ids = files.iter().filter_map(|path| id_in_name(path));
            known.ids = ids.map(str::to_owned).collect();
            known.changed = changed;
            #[cfg(test)]
            {
                known.listings += 1;
            }
        }
        Ok(!known.ids.contains(id))
    }

    /// Keeps a run after a look at all names.
    fn save_listed(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.runs_directory().join(file_of(run)?);
        let written = match self.of_id(&run.id)? {
            Before::None => write::write_new(bytes, &path),
            Before::One(before) if document::is_damaged_file(&before) => {
                self.replace(&before, bytes, &path)
            }
            Before::One(_) | Before::Several => Err(kept_already(&path)),
        };
        match written {
            // Another process kept it in between.
            Err(error) if exists_already(&error) => Err(kept_already(&path)),
            done => done.map(|()| path),
        }
    }

    /// Puts a run in the place of a damaged document. That is moved aside first,
    /// so that of several that do this at once one wins, and comes back if it
    /// can't be replaced.
    fn replace(&self, damaged: &Path, bytes: &[u8], path: &Path) -> Result<(), StoreError> {
        let place = write::entry(damaged)?;
        let name = write::temporary_name(place.name());
        let aside = damaged.with_file_name(&name);
        match place.move_to(&name) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(kept_already(path)),
            moved => moved.map_err(io(FileAction::Write, damaged))?,
        }
        crash::point("damaged document aside");
        // What was moved may be what another put there since it was looked at.
        let written = match document::is_damaged_file(&aside) {
            true => write::write_new(bytes, path),
            false => Err(kept_already(path)),
        };
        match &written {
            Ok(()) => {
                // A second name of nothing does no harm.
                let _ = place.remove(&name);
            }
            Err(_) if !damaged.exists() => {
                place.replace_by(&name).map_err(io(FileAction::Write, damaged))?;
            }
            Err(_) => {}
        }
        written
    }

    /// Documents whose ids are wanted, those of the oldest runs first.
    fn sorted(
        &self,
        now: SystemTime,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<PathBuf>, StoreError> {
        let mut paths = files_in(&self.runs_directory())?;
        paths.retain(|path| id_in_name(path).is_some_and(&is_wanted));
        let written = |path: &Path| std::fs::metadata(path).and_then(|known| known.modified()).ok();
        Horizon::at(now).sort(&mut paths, written);
        Ok(paths)
    }

    /// The one document of this id, if there is one.
    fn of_id(&self, id: &str) -> Result<Before, StoreError> {
        let mut found = files_in(&self.runs_directory())?;
        found.retain(|path| id_in_name(path) == Some(id));
        Ok(match (found.len(), found.pop()) {
            (0, _) => Before::None,
            (1, Some(only)) => Before::One(only),
            _ => Before::Several,
        })
    }
}

/// Whether the name of what was to be written is taken.
fn exists_already(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { cause, .. } if cause.kind() == ErrorKind::AlreadyExists)
}

/// Documents of one id.
enum Before {
    None,
    One(PathBuf),
    Several,
}

impl Documents for Directory {
    fn place(&self) -> Place {
        Place::Directory(self.path.clone())
    }

    fn save_bytes(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let runs = self.runs_directory();
        write::make_directory(&runs)?;
        if !self.is_new(&run.id)? {
            return self.save_listed(run, bytes);
        }
        let before = self.known().changed;
        let path = self.save_new(run, bytes)?;
        let mut known = self.known();
        known.ids.insert(run.id.clone());
        // Taken for this writer's own change: what another adds in this moment is found like what
        // it adds between a listing and a write, by its name alone.
        if known.changed == before {
            known.changed = self.changed();
        }
        Ok(path)
    }

    fn save_new(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let runs = self.runs_directory();
        if !runs.is_dir() {
            write::make_directory(&runs)?;
        }
        let path = runs.join(file_of(run)?);
        // What is there may be damaged.
        if path.exists() {
            return self.save_listed(run, bytes);
        }
        match write::write_new(bytes, &path) {
            Err(error) if exists_already(&error) => self.save_listed(run, bytes),
            done => done.map(|()| path),
        }
    }

    fn bytes_of(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        input::read_file(path, document::MAX_DOCUMENT_BYTES).map_err(io(FileAction::Read, path))
    }

    fn check_keepable(&self) -> Result<(), StoreError> {
        write::make_directory(&self.runs_directory())?;
        write::check_keepable(&self.runs_directory())
    }

    fn paths_at(&self, now: SystemTime) -> Result<Vec<PathBuf>, StoreError> {
        self.sorted(now, |_| true)
    }

    fn paths_of(&self, prefix: &str) -> Result<Vec<PathBuf>, StoreError> {
        self.sorted(SystemTime::now(), |id| id.starts_with(prefix))
    }

    fn remove(&self, path: &Path) -> Result<(), StoreError> {
        write::remove(path).map_err(io(FileAction::Remove, path))
    }

    fn tag_names(&self) -> Result<Vec<String>, StoreError> {
        let files = files_in(&self.path.join("tags"))?;
        let names = files.iter().filter_map(|path| path.file_name()?.to_str());
        Ok(names.filter(|name| tags::is_word(name)).map(str::to_owned).collect())
    }

    fn read_tag(&self, name: &str) -> Result<Option<String>, StoreError> {
        let path = self.tag(name);
        match input::read_file(&path, MAX_TAG_BYTES) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io(FileAction::Read, &path)(e)),
        }
    }

    fn create_tag(&self, name: &str, text: &str) -> Result<bool, StoreError> {
        let dir = self.path.join("tags");
        write::make_directory(&dir)?;
        match write::write_new(text.as_bytes(), &self.tag(name)) {
            Err(error) if exists_already(&error) => Ok(false),
            done => done.map(|()| true),
        }
    }

    fn write_tag(&self, name: &str, text: &str) -> Result<(), StoreError> {
        write::replace(text.as_bytes(), &self.tag(name))
    }

    fn remove_tag(&self, name: &str) -> Result<bool, StoreError> {
        let path = self.tag(name);
        match write::remove(&path) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(io(FileAction::Remove, &path)(e)),
        }
    }
}

/// Every file in a directory; none where there is no such directory.
pub(crate) fn files_in(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(io(FileAction::Read, dir)(e)),
    };
    let path = |entry: std::io::Result<std::fs::DirEntry>| entry.map(|entry| entry.path());
    let all: std::io::Result<_> = entries.map(path).collect();
    all.map_err(io(FileAction::Read, dir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::long_ago;
    use std::fs::File;
    use std::time::Duration;

    fn numbered(n: u32) -> Run {
        let mut run = long_ago();
        run.id = format!("{n:08x}-0000-4000-8000-000000000001");
        run
    }

    fn save(store: &Directory, run: &Run) -> Result<PathBuf, StoreError> {
        store.save_bytes(run, &write::packed(run)?)
    }

    #[test]
    fn names_are_listed_again_only_after_another_writer() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Directory::at(dir.path());
        for n in 0..9 {
            save(&store, &numbered(n)).expect("saved");
        }
        assert_eq!(store.known().listings, 1);
        // Another keeps a run that begins at another time than here.
        let mut earlier = numbered(9);
        earlier.started_unix_ms -= 1000;
        save(&Directory::at(dir.path()), &earlier).expect("saved");
        // File systems may count time in steps longer than this takes.
        let runs = File::open(store.runs_directory()).expect("opened");
        let later = SystemTime::now() + Duration::from_secs(9);
        runs.set_modified(later).expect("a time");
        for n in [9, 0] {
            let mut again = numbered(n);
            again.started_unix_ms += 7000;
            let error = save(&store, &again).expect_err("taken").to_string();
            assert!(error.contains("already kept"), "{error}");
        }
        assert_eq!(store.known().listings, 2);
        save(&store, &numbered(10)).expect("saved");
        save(&store, &numbered(11)).expect("saved");
        assert_eq!(store.known().listings, 2);
    }

    #[test]
    fn a_document_that_was_damaged_since_the_listing_is_replaced() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Directory::at(dir.path());
        save(&store, &numbered(0)).expect("saved");
        let run = numbered(1);
        let path = store.runs_directory().join(file_of(&run).expect("a name"));
        std::fs::write(&path, "no run").expect("written");
        // As if both had been in one step of the file system's clock.
        store.known().changed = store.changed();
        assert_eq!(save(&store, &run).expect("replaced"), path);
        assert!(crate::read_run(&path).expect("read") == run);
    }
}
