//! Documents and tags as files of a directory.

use crate::documents::Documents;
use crate::error::{FileAction, io};
use crate::horizon::Horizon;
use crate::{
    Place, StoreError, crash, document, file_of, id_in_name, input, kept_already, tags, write,
};
use model::run::Run;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The directory below which `runs` and `tags` lie.
#[derive(Debug)]
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }

    fn tag(&self, name: &str) -> PathBuf {
        self.0.join("tags").join(name)
    }

    /// Puts a run in the place of a damaged document. That is moved aside first,
    /// so that of several that do this at once one wins, and comes back if it
    /// can't be replaced.
    fn replace(&self, damaged: &Path, bytes: &[u8], path: &Path) -> Result<(), StoreError> {
        let aside = write::temporary_name(damaged);
        match std::fs::rename(damaged, &aside) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(kept_already(path)),
            moved => moved.map_err(io(FileAction::Write, damaged))?,
        }
        crash::point("damaged document aside");
        // What was moved may be what another put there since it was looked at.
        let written = match document::is_damaged(&aside) {
            true => write::write_new(bytes, path),
            false => Err(kept_already(path)),
        };
        match &written {
            Ok(()) => {
                // A second name of nothing does no harm.
                let _ = std::fs::remove_file(&aside);
            }
            Err(_) if !damaged.exists() => {
                std::fs::rename(&aside, damaged).map_err(io(FileAction::Write, damaged))?;
            }
            Err(_) => {}
        }
        written
    }

    /// The one document of this id, if there is one.
    fn of_id(&self, id: &str) -> Result<Before, StoreError> {
        let mut found = files_in(&self.runs())?;
        found.retain(|path| id_in_name(path) == Some(id));
        Ok(match (found.len(), found.pop()) {
            (0, _) => Before::None,
            (1, Some(only)) => Before::One(only),
            _ => Before::Several,
        })
    }
}

/// Documents of one id.
enum Before {
    None,
    One(PathBuf),
    Several,
}

impl Documents for Directory {
    fn place(&self) -> Place {
        Place::Directory(self.0.clone())
    }

    fn save_bytes(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let runs = self.runs();
        write::make_directory(&runs)?;
        let path = runs.join(file_of(run)?);
        let written = match self.of_id(&run.id)? {
            Before::None => write::write_new(bytes, &path),
            Before::One(before) if document::is_damaged(&before) => {
                self.replace(&before, bytes, &path)
            }
            Before::One(_) | Before::Several => Err(kept_already(&path)),
        };
        match written {
            // Another process kept it in between.
            Err(StoreError::Io { cause, .. })
                if cause.kind() == std::io::ErrorKind::AlreadyExists =>
            {
                Err(kept_already(&path))
            }
            done => done.map(|()| path),
        }
    }

    fn save_new(&self, run: &Run, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.runs().join(file_of(run)?);
        if !self.runs().is_dir() || path.exists() {
            return self.save_bytes(run, bytes);
        }
        match write::write_new(bytes, &path) {
            // Another process kept it in between.
            Err(StoreError::Io { cause, .. })
                if cause.kind() == std::io::ErrorKind::AlreadyExists =>
            {
                Err(kept_already(&path))
            }
            done => done.map(|()| path),
        }
    }

    fn bytes_of(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        input::read_file(path, document::MAX_DOCUMENT_BYTES).map_err(io(FileAction::Read, path))
    }

    fn check_keepable(&self) -> Result<(), StoreError> {
        write::make_directory(&self.runs())?;
        write::check_room(&self.runs().join("a-run.json.zst"))
    }

    fn paths_at(&self, now: SystemTime) -> Result<Vec<PathBuf>, StoreError> {
        let mut paths = files_in(&self.runs())?;
        paths.retain(|path| id_in_name(path).is_some());
        let written = |path: &Path| {
            std::fs::metadata(path)
                .and_then(|known| known.modified())
                .ok()
        };
        Horizon::at(now).sort(&mut paths, written);
        Ok(paths)
    }

    fn fetch(&self, _path: &Path) -> Result<(), StoreError> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<(), StoreError> {
        std::fs::remove_file(path).map_err(io(FileAction::Remove, path))?;
        let runs = self.runs();
        write::sync_directory(&runs).map_err(io(FileAction::Sync, &runs))
    }

    fn tag_names(&self) -> Result<Vec<String>, StoreError> {
        let files = files_in(&self.0.join("tags"))?;
        let names = files.iter().filter_map(|path| path.file_name()?.to_str());
        Ok(names
            .filter(|name| tags::is_word(name))
            .map(str::to_owned)
            .collect())
    }

    fn read_tag(&self, name: &str) -> Result<Option<String>, StoreError> {
        let path = self.tag(name);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io(FileAction::Read, &path)(e)),
        }
    }

    fn create_tag(&self, name: &str, text: &str) -> Result<bool, StoreError> {
        let dir = self.0.join("tags");
        std::fs::create_dir_all(&dir).map_err(io(FileAction::Create, &dir))?;
        match write::write_new(text.as_bytes(), &self.tag(name)) {
            Err(StoreError::Io { cause, .. })
                if cause.kind() == std::io::ErrorKind::AlreadyExists =>
            {
                Ok(false)
            }
            done => done.map(|()| true),
        }
    }

    fn write_tag(&self, name: &str, text: &str) -> Result<(), StoreError> {
        write::write_bytes(text.as_bytes(), &self.tag(name))
    }

    fn remove_tag(&self, name: &str) -> Result<bool, StoreError> {
        let path = self.tag(name);
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(io(FileAction::Remove, &path)(e)),
        }
    }
}

/// Every file in a directory; none where there is no such directory.
pub(crate) fn files_in(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(io(FileAction::Read, dir)(e)),
    };
    let path = |entry: std::io::Result<std::fs::DirEntry>| entry.map(|entry| entry.path());
    let all: std::io::Result<_> = entries.map(path).collect();
    all.map_err(io(FileAction::Read, dir))
}
