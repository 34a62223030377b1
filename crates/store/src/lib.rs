#![forbid(unsafe_code)]
//! Where runs are kept: one immutable file a run under the platform's data
//! directory, named so that they sort by time.

pub mod baseline;
mod crash;
mod document;
mod error;
pub mod exchange;
pub mod history;
pub mod index;
pub mod input;
pub mod operand;
mod place;
pub mod schema;
mod tags;
#[cfg(test)]
mod tests;
mod whole;
mod write;

pub use document::{
    MAX_DOCUMENT_BYTES, Refused, from_bytes, from_bytes_within, is_in_future, is_packed, read,
    read_as_it_is, read_with_bytes, to_json,
};
pub(crate) use document::{read_kept, shown};
pub use error::{FileAction, StoreError};
pub use place::{data_dir, keep_below};
pub use tags::{Tag, Taken, check_tag};
pub use whole::{NotWhole, not_whole};
pub use write::{check_writable, write, write_bytes};

use error::io;
use model::nearest::suggestion;
use model::run::Run;
use model::text::short_id;
use model::utc;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A directory of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    runs: PathBuf,
}

impl Store {
    /// The store in the platform's data directory.
    pub fn of_user() -> Result<Store, StoreError> {
        Ok(Store::in_directory(&data_dir()?))
    }

    /// The store in a data directory, which need not exist yet.
    pub fn in_directory(data_dir: &Path) -> Store {
        Store {
            runs: data_dir.join("runs"),
        }
    }

    /// Where everything lies that is kept.
    pub fn data_dir(&self) -> &Path {
        self.runs.parent().unwrap_or(&self.runs)
    }

    /// Where the runs lie.
    pub fn runs_dir(&self) -> &Path {
        &self.runs
    }

    /// Keeps a run and says where. Kept runs never change; only a document that
    /// can't be read gives its place to one of the same id that can.
    pub fn save(&self, run: &Run) -> Result<PathBuf, StoreError> {
        write::make_directory(&self.runs)?;
        let path = self.path_of(run)?;
        let written = match self.find(&run.id) {
            Err(StoreError::NoSuchRun { .. }) => write::write_new(&write::packed(run)?, &path),
            Ok(before) if document::is_damaged(&before) => self.replace(&before, run, &path),
            Ok(_) | Err(StoreError::Ambiguous { .. } | StoreError::Twice { .. }) => {
                Err(kept_already(&path))
            }
            Err(other) => Err(other),
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

    /// Puts a run in the place of a damaged document. That is moved aside first,
    /// so that of several that do this at once one wins, and comes back if it
    /// can't be replaced.
    fn replace(&self, damaged: &Path, run: &Run, path: &Path) -> Result<(), StoreError> {
        let packed = write::packed(run)?;
        let aside = write::temporary_name(damaged);
        match std::fs::rename(damaged, &aside) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(kept_already(path)),
            moved => moved.map_err(io(FileAction::Write, damaged))?,
        }
        crash::point("damaged document aside");
        // What was moved may be what another put there since it was looked at.
        let written = match document::is_damaged(&aside) {
            true => write::write_new(&packed, path),
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

    fn path_of(&self, run: &Run) -> Result<PathBuf, StoreError> {
        // The id becomes part of a file name.
        if !document::is_id(&run.id) {
            return Err(StoreError::Unwritable(format!(
                "its id {:?} is not a UUID",
                run.id
            )));
        }
        let stamp = utc::stamp(run.started_unix_ms);
        Ok(self.runs.join(format!("{stamp}-{}.json.zst", run.id)))
    }

    /// Finds out before measuring whether a run could be kept: a minute must not
    /// be lost to a directory that can't be written, or to a full disk. Makes the
    /// directory where there is none.
    ///
    /// # Errors
    /// If it can't be made, written, or has no room.
    pub fn check_keepable(&self) -> Result<(), StoreError> {
        write::make_directory(&self.runs)?;
        write::check_room(&self.runs.join("a-run.json.zst"))
    }

    /// Paths of all kept runs, the oldest first. One that says that it began in
    /// the future is no newer for that: it comes where its file was written, or
    /// before all others where that time is to come as well. So it has no place
    /// for good that a clock once gave it, and none has to be remembered.
    pub fn paths(&self) -> Result<Vec<PathBuf>, StoreError> {
        self.paths_at(SystemTime::now())
    }

    fn paths_at(&self, now: SystemTime) -> Result<Vec<PathBuf>, StoreError> {
        let mut paths = self.files()?;
        paths.retain(|path| id_in_name(path).is_some());
        let horizon = Horizon::at(now);
        paths.sort_by_cached_key(|path| (horizon.time_of(path), path.clone()));
        Ok(paths)
    }

    /// Id of the kept run whose document lies there; `None` for a file outside
    /// the store.
    pub fn id_of(&self, path: &Path) -> Option<String> {
        let own = |dir: &Path| dir.canonicalize().ok();
        // A bare name lies in the current directory.
        let inside = own(write::directory(path))? == own(&self.runs)?;
        id_in_name(path).filter(|_| inside).map(str::to_owned)
    }

    /// Whether no run is kept.
    ///
    /// # Errors
    /// If the directory can't be read.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.paths()?.is_empty())
    }

    /// Every file in the directory of runs, whatever its name is.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, StoreError> {
        files_in(&self.runs)
    }

    /// Removes the document of a kept run, for good.
    ///
    /// # Errors
    /// If it can't be removed.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), StoreError> {
        std::fs::remove_file(path).map_err(io(FileAction::Remove, path))?;
        write::sync_directory(&self.runs).map_err(io(FileAction::Sync, &self.runs))
    }

    /// Files that writers of runs and tags left behind that were killed.
    pub(crate) fn left_over(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut files = self.files()?;
        files.extend(files_in(&self.tags_dir())?);
        files.retain(|path| write::is_left_over(path));
        Ok(files)
    }

    /// Removes them and says how many there were.
    pub(crate) fn clear_left_over(&self) -> Result<usize, StoreError> {
        let files = self.left_over()?;
        for path in &files {
            match std::fs::remove_file(path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
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
        self.newest(back).map(|(path, _)| path)
    }

    /// Path of the kept run that is so many before the newest, and what was
    /// passed over on the way: runs that were interrupted or found nothing are
    /// not counted, nor are times to come believed.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn newest(&self, back: usize) -> Result<(PathBuf, PassedOver), StoreError> {
        let paths = self.paths()?;
        let horizon = Horizon::at(SystemTime::now());
        let in_future = paths.iter().filter(|path| horizon.is_beyond(path));
        let mut passed = PassedOver {
            not_whole: Vec::new(),
            in_future: in_future
                .filter_map(|path| id_in_name(path))
                .map(str::to_owned)
                .collect(),
        };
        let mut count = 0;
        for path in paths.iter().rev() {
            match whole::not_whole_at(path) {
                Some(why) => {
                    let id = id_in_name(path).unwrap_or_default();
                    passed.not_whole.push((id.to_owned(), why));
                }
                None if count == back => return Ok((path.clone(), passed)),
                None => count += 1,
            }
        }
        let path = self.runs.clone();
        Err(match (paths.len(), count) {
            (0, _) => StoreError::Empty(path),
            (kept, 0) => StoreError::NoneWhole { path, count: kept },
            _ => StoreError::TooFarBack { back, path, count },
        })
    }

    /// Path of the one kept run whose id begins so.
    pub fn find(&self, prefix: &str) -> Result<PathBuf, StoreError> {
        let mut found: Vec<PathBuf> = self
            .paths()?
            .into_iter()
            .filter(|path| id_in_name(path).is_some_and(|id| id.starts_with(prefix)))
            .collect();
        let first = found.first().and_then(|path| id_in_name(path));
        if let Some(id) = first.map(str::to_owned)
            && found.len() > 1
            && found.iter().all(|path| id_in_name(path) == Some(&id))
        {
            return Err(StoreError::Twice { id, paths: found });
        }
        let (prefix, path) = (prefix.to_owned(), self.runs.clone());
        match (found.len(), found.pop()) {
            (1, Some(only)) => Ok(only),
            (0, _) => Err(StoreError::NoSuchRun { prefix, path }),
            (count, _) => Err(StoreError::Ambiguous {
                prefix,
                path,
                count,
            }),
        }
    }
}

/// What is not among the newest runs, though its time says so.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Ids of newer runs that are not whole, with why, the newest first.
    pub not_whole: Vec<(String, NotWhole)>,
    /// Ids of runs that say that they began in the future.
    pub in_future: Vec<String>,
}

impl PassedOver {
    /// What a reader must know, a line each.
    pub fn lines(&self) -> Vec<String> {
        let short = |id: &str| short_id(id).to_owned();
        let not_whole = self.not_whole.iter().map(|(id, why)| {
            let id = short(id);
            format!("the newer run {id} is not `last`: {why} (latlas show {id} prints it)")
        });
        let in_future = self.in_future.first().map(|id| {
            let (them, begin) = match self.in_future.len() {
                1 => (format!("the kept run {}", short(id)), "says that it began"),
                n => (
                    format!("{n} kept runs, such as {},", short(id)),
                    "say that they began",
                ),
            };
            format!("{them} {begin} in the future: not taken for newer than the others")
        });
        not_whole.chain(in_future).collect()
    }
}

/// Clocks of machines that share a store differ by so much.
const CLOCKS_DIFFER: Duration = Duration::from_secs(60);

/// Times beyond this one are to come, and not believed.
struct Horizon {
    stamp: String,
}

/// Later times than this one, ms since 1970, are to come.
pub(crate) fn horizon_ms() -> u64 {
    ms_beyond(SystemTime::now())
}

fn ms_beyond(now: SystemTime) -> u64 {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    (since + CLOCKS_DIFFER).as_millis() as u64
}

impl Horizon {
    fn at(now: SystemTime) -> Horizon {
        Horizon {
            stamp: utc::stamp(ms_beyond(now)),
        }
    }

    fn is_beyond(&self, path: &Path) -> bool {
        time_in_name(path) > time_of_stamp(&self.stamp)
    }

    /// By what a run's path sorts: its time, if that is not to come; else the
    /// time at which it was written, after those that have none of both. The
    /// last part keeps these in their own order.
    fn time_of(&self, path: &Path) -> (String, String, String) {
        let time = |time: Option<(&str, &str)>| {
            let (second, thousandth) = time.unwrap_or_default();
            (second.to_owned(), thousandth.to_owned())
        };
        let own = time(time_in_name(path));
        if !self.is_beyond(path) {
            return (own.0, own.1, String::new());
        }
        let written = std::fs::metadata(path).and_then(|known| known.modified());
        let written = written
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let written = written.map(|at| utc::stamp(at.as_millis() as u64));
        let written =
            written.filter(|written| time_of_stamp(written) <= time_of_stamp(&self.stamp));
        let (second, thousandth) = time(written.as_deref().and_then(time_of_stamp));
        (second, thousandth, own.0 + &own.1)
    }
}

/// Every file in a directory; none where there is no such directory.
fn files_in(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(io(FileAction::Read, dir)(e)),
    };
    let path = |entry: std::io::Result<std::fs::DirEntry>| entry.map(|entry| entry.path());
    let all: std::io::Result<_> = entries.map(path).collect();
    all.map_err(io(FileAction::Read, dir))
}

fn kept_already(path: &Path) -> StoreError {
    StoreError::Io {
        action: FileAction::Write,
        path: path.to_owned(),
        cause: std::io::Error::new(
            std::io::ErrorKind::AlreadyExists,
            "a run of this id is already kept, and kept runs never change",
        ),
    }
}

/// Path of the run that a name means: a file where there is one of that name,
/// else the last run (`last`), one before it (`last~1`), the one whose id
/// begins so, or that of a tag. No tag can be taken for one of the others
/// ([`check_tag`]). The store is asked only where it is needed.
pub fn named(name: &str, store: &Result<Store, StoreError>) -> Result<PathBuf, StoreError> {
    named_passing(name, store).map(|(path, _)| path)
}

/// [`named`], with what was passed over.
///
/// # Errors
/// As [`named`].
pub fn named_passing(
    name: &str,
    store: &Result<Store, StoreError>,
) -> Result<(PathBuf, PassedOver), StoreError> {
    let back = match name.strip_prefix("last") {
        Some("") => Some(0),
        Some(more) => more.strip_prefix('~').and_then(|back| back.parse().ok()),
        None => None,
    };
    match back.filter(|_| !Path::new(name).is_file()) {
        Some(back) => known(store)?.newest(back),
        None => by_name(name, store).map(|path| (path, PassedOver::default())),
    }
}

fn known(store: &Result<Store, StoreError>) -> Result<&Store, StoreError> {
    store.as_ref().map_err(|_| StoreError::NoDataDirectory)
}

fn by_name(name: &str, store: &Result<Store, StoreError>) -> Result<PathBuf, StoreError> {
    let store = || known(store);
    let path = Path::new(name);
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if tags::looks_like_id(name) {
        return store()?.find(&name.to_ascii_lowercase());
    }
    if let Ok(store) = store()
        && let Some(run) = store.tagged(name)?
    {
        let name = name.to_owned();
        return match store.find(&run) {
            Err(StoreError::NoSuchRun { .. }) => Err(StoreError::LostTag { name, run }),
            found => found,
        };
    }
    match path.exists() {
        // A directory or a device: reading it says what is wrong.
        true => Ok(path.to_owned()),
        false => Err(StoreError::NoSuchFile {
            path: path.to_owned(),
            suggestion: {
                let tags = store().ok().and_then(|store| store.tags().ok());
                let tags = tags.iter().flatten().map(|tag| tag.name.as_str());
                suggestion(name, tags.chain(["last"]))
            },
        }),
    }
}

/// Stamp and id in the name of a kept run; `None` for any other file.
fn parts_of_name(path: &Path) -> Option<(&str, &str)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".json.zst")?;
    stem.split_once('-').filter(|(_, id)| document::is_id(id))
}

pub(crate) fn id_in_name(path: &Path) -> Option<&str> {
    parts_of_name(path).map(|(_, id)| id)
}

/// Second and thousandths of it, as they sort. Names that older versions gave
/// have no thousandths: those come first in their second.
fn time_in_name(path: &Path) -> Option<(&str, &str)> {
    let (stamp, _) = parts_of_name(path)?;
    time_of_stamp(stamp)
}

fn time_of_stamp(stamp: &str) -> Option<(&str, &str)> {
    let time = stamp.trim_end_matches('Z');
    Some(time.split_once('.').unwrap_or((time, "")))
}
