//! Where runs are kept: one immutable file a run under the platform's data
//! directory, named so that they sort by time.

mod document;
mod write;

pub use document::{MAX_DOCUMENT_BYTES, from_bytes, read, to_json};
pub use write::{check_writable, write, write_bytes};

use crate::utc;
use model::run::Run;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Why a run could not be kept or read. Every message is one line that names
/// the path and says what to do where that is not plain.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No place to keep runs is known.
    #[error("no place to keep runs: neither LATLAS_DATA_DIR nor XDG_DATA_HOME nor HOME is set")]
    NoDataDirectory,
    /// A file or directory refuses.
    #[error("can't {action} {}: {cause}", path.display())]
    Io {
        /// What was tried: `read`, `write`, `create`.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        cause: std::io::Error,
    },
    /// The path leads to something that can't hold a run.
    #[error("can't write {}: {reason}", path.display())]
    NotAFile {
        /// Which.
        path: PathBuf,
        /// What it is instead.
        reason: &'static str,
    },
    /// The file is not a run that this program can read.
    #[error("{} is not a run this latlas can read: {reason}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The run can't be written so that it can be read again.
    #[error("this run can't be written: {0} (this is a bug in latlas)")]
    Unwritable(String),
    /// Nothing is kept yet.
    #[error("no run is kept in {} yet: `latlas run` makes one", .0.display())]
    Empty(PathBuf),
    /// Fewer runs are kept than `last~N` counts back.
    #[error("last~{back} goes back too far: {count} {} kept in {}", if *count == 1 { "run is" } else { "runs are" }, path.display())]
    TooFarBack {
        /// How far back.
        back: usize,
        /// Where.
        path: PathBuf,
        /// How many are kept.
        count: usize,
    },
    /// A name that is neither a file nor of a kept run.
    #[error("can't read {}: there is no such file (nor is it `last`, `last~1` or the beginning of a run's id)", path.display())]
    NoSuchFile {
        /// The name.
        path: PathBuf,
    },
    /// No kept run has this id.
    #[error("no run in {} has an id that begins with {prefix:?}", path.display())]
    NoSuchRun {
        /// What was asked for.
        prefix: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Several kept runs begin so.
    #[error("{count} runs in {} have an id that begins with {prefix:?}: give more of it", path.display())]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Where it was looked for.
        path: PathBuf,
        /// How many.
        count: usize,
    },
}

/// Attaches what was tried, on what, to an error of the operating system.
fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    move |cause| StoreError::Io {
        action,
        path: path.to_owned(),
        cause,
    }
}

/// The platform's data directory for latlas. `LATLAS_DATA_DIR` overrides it.
pub fn data_dir() -> Result<PathBuf, StoreError> {
    data_dir_from(|name| std::env::var_os(name))
}

fn data_dir_from(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    let path = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(own) = path("LATLAS_DATA_DIR") {
        return Ok(own);
    }
    // The XDG specification has relative paths ignored.
    if let Some(xdg) = path("XDG_DATA_HOME").filter(|p| p.is_absolute()) {
        return Ok(xdg.join("latlas"));
    }
    let under_home = if cfg!(target_os = "macos") {
        "Library/Application Support/latlas"
    } else {
        ".local/share/latlas"
    };
    path("HOME")
        .map(|home| home.join(under_home))
        .ok_or(StoreError::NoDataDirectory)
}

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

    /// Where the runs lie.
    pub fn runs_dir(&self) -> &Path {
        &self.runs
    }

    /// Keeps a run and says where.
    pub fn save(&self, run: &Run) -> Result<PathBuf, StoreError> {
        std::fs::create_dir_all(&self.runs).map_err(io("create", &self.runs))?;
        let path = self.path_of(run)?;
        if path.exists() {
            return Err(StoreError::Io {
                action: "write",
                path,
                cause: std::io::Error::new(
                    std::io::ErrorKind::AlreadyExists,
                    "a run of this id is already kept, and kept runs never change",
                ),
            });
        }
        write(run, &path)?;
        Ok(path)
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

    /// Paths of all kept runs, the oldest first.
    pub fn paths(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = match std::fs::read_dir(&self.runs) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(io("read", &self.runs)(e)),
        };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(io("read", &self.runs))?.path();
            if id_in_name(&path).is_some() {
                paths.push(path);
            }
        }
        paths.sort_by(|a, b| time_in_name(a).cmp(&time_in_name(b)).then(a.cmp(b)));
        Ok(paths)
    }

    /// Path of the newest kept run.
    pub fn last(&self) -> Result<PathBuf, StoreError> {
        self.paths()?
            .pop()
            .ok_or_else(|| StoreError::Empty(self.runs.clone()))
    }

    /// Path of the kept run that is so many before the newest.
    pub fn back(&self, back: usize) -> Result<PathBuf, StoreError> {
        let mut paths = self.paths()?;
        let count = paths.len();
        if count == 0 {
            return Err(StoreError::Empty(self.runs.clone()));
        }
        match count.checked_sub(back.saturating_add(1)) {
            Some(at) => Ok(paths.swap_remove(at)),
            None => Err(StoreError::TooFarBack {
                back,
                path: self.runs.clone(),
                count,
            }),
        }
    }

    /// Path of the one kept run whose id begins so.
    pub fn find(&self, prefix: &str) -> Result<PathBuf, StoreError> {
        let mut found: Vec<PathBuf> = self
            .paths()?
            .into_iter()
            .filter(|path| id_in_name(path).is_some_and(|id| id.starts_with(prefix)))
            .collect();
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

/// Path of the run that a name means: a file where there is one of that name,
/// else the last run (`last`), one before it (`last~1`), or the one whose id
/// begins so. The store is asked only where it is needed.
pub fn named(name: &str, store: &Result<Store, StoreError>) -> Result<PathBuf, StoreError> {
    let store = || store.as_ref().map_err(|_| StoreError::NoDataDirectory);
    let looks_like_id = name.chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    let path = Path::new(name);
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if name == "last" {
        return store()?.last();
    }
    if let Some(Ok(back)) = name.strip_prefix("last~").map(str::parse) {
        return store()?.back(back);
    }
    if looks_like_id && !name.is_empty() {
        return store()?.find(&name.to_ascii_lowercase());
    }
    match path.exists() {
        // A directory or a device: reading it says what is wrong.
        true => Ok(path.to_owned()),
        false => Err(StoreError::NoSuchFile {
            path: path.to_owned(),
        }),
    }
}

/// Stamp and id in the name of a kept run; `None` for any other file.
fn parts_of_name(path: &Path) -> Option<(&str, &str)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".json.zst")?;
    stem.split_once('-').filter(|(_, id)| document::is_id(id))
}

fn id_in_name(path: &Path) -> Option<&str> {
    parts_of_name(path).map(|(_, id)| id)
}

/// Second and thousandths of it, as they sort. Names that older versions gave
/// have no thousandths: those come first in their second.
fn time_in_name(path: &Path) -> Option<(&str, &str)> {
    let (stamp, _) = parts_of_name(path)?;
    let time = stamp.trim_end_matches('Z');
    Some(time.split_once('.').unwrap_or((time, "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;

    fn environment<'a>(set: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| {
            set.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, value)| OsString::from(value))
        }
    }

    #[test]
    fn the_data_directory_follows_the_environment() {
        let of = |set: &[(&str, &str)]| data_dir_from(environment(set));
        let xdg = [("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(of(&xdg).expect("xdg"), Path::new("/x/latlas"));
        let own = [("LATLAS_DATA_DIR", "/own"), ("XDG_DATA_HOME", "/x")];
        assert_eq!(of(&own).expect("own"), Path::new("/own"));
        let relative = of(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")]).expect("home");
        assert!(relative.starts_with("/h"), "{relative:?}");
        assert!(matches!(of(&[]), Err(StoreError::NoDataDirectory)));
    }

    #[test]
    fn a_kept_run_comes_back_as_it_was() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::in_directory(dir.path());
        assert!(matches!(store.last(), Err(StoreError::Empty(_))));
        let run = synthetic::run();
        let path = store.save(&run).expect("saved");
        assert_eq!(store.last().expect("last"), path);
        assert!(read(&path).expect("read") == run);
        let again = store.save(&run).expect_err("immutable").to_string();
        assert!(again.contains("already kept"), "{again}");
    }

    #[test]
    fn runs_are_found_by_time_and_by_id() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::in_directory(dir.path());
        let mut run = synthetic::run();
        run.id = "aaaa0000-0000-4000-8000-000000000001".into();
        let later = store.save(&run).expect("saved");
        run.id = "aabb0000-0000-4000-8000-000000000002".into();
        run.started_unix_ms -= 1000;
        let earlier = store.save(&run).expect("saved");
        std::fs::write(store.runs_dir().join("notes.txt"), "x").expect("note");
        assert_eq!(
            store.paths().expect("paths"),
            [earlier.clone(), later.clone()]
        );
        assert_eq!(store.last().expect("last"), later);
        assert_eq!(store.find("aab").expect("one"), earlier);
        assert!(matches!(
            store.find("aa"),
            Err(StoreError::Ambiguous { count: 2, .. })
        ));
        assert!(matches!(store.find("c"), Err(StoreError::NoSuchRun { .. })));
        assert_eq!(store.back(0).expect("newest"), later);
        assert_eq!(store.back(1).expect("before"), earlier);
        let too_far = store.back(2).expect_err("two are kept").to_string();
        assert!(
            too_far.contains("last~2") && too_far.contains("2 runs are kept"),
            "{too_far}"
        );
        let store = Ok(store);
        assert_eq!(named("last~1", &store).expect("before"), earlier);
        assert_eq!(named("AABB", &store).expect("any case"), earlier);
        let odd = named("last~x", &store).expect_err("no number");
        assert!(matches!(odd, StoreError::NoSuchFile { .. }), "{odd}");
    }

    #[test]
    fn runs_of_one_second_come_in_their_order() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::in_directory(dir.path());
        let mut run = synthetic::run();
        run.started_unix_ms = 1_795_225_964_007;
        let mut saved = Vec::new();
        // The later it began, the earlier its id sorts.
        for id in ["cccc", "bbbb", "aaaa"] {
            run.id = format!("{id}0000-0000-4000-8000-000000000001");
            saved.push(store.save(&run).expect("saved"));
            run.started_unix_ms += 90;
        }
        assert_eq!(store.paths().expect("paths"), saved);
        assert_eq!(store.last().expect("last"), saved[2]);
        assert_eq!(store.back(1).expect("before"), saved[1]);
        // As older versions named them: without thousandths.
        let old = |stamp: &str, id: &str| {
            let name = format!("{stamp}Z-{id}0000-0000-4000-8000-000000000001.json.zst");
            let path = store.runs_dir().join(name);
            std::fs::write(&path, "").expect("written");
            path
        };
        let before = old("20261121T015243", "ffff");
        let same = old("20261121T015244", "eeee");
        let after = old("20261121T015245", "0000");
        let mut sorted = vec![before, same];
        sorted.extend(saved);
        sorted.push(after);
        assert_eq!(store.paths().expect("paths"), sorted);
    }

    #[test]
    fn an_id_that_would_leave_the_directory_is_refused() {
        let dir = tempfile::tempdir().expect("tempdir");
        let mut run = synthetic::run();
        run.id = "../../x".into();
        let error = Store::in_directory(dir.path()).save(&run);
        assert!(matches!(error, Err(StoreError::Unwritable(_))), "{error:?}");
    }
}
