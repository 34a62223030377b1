//! Where runs are kept: one immutable file a run under the platform's data
//! directory, named so that they sort by time.

mod document;
mod tags;
mod write;

pub use document::{
    MAX_DOCUMENT_BYTES, Refused, from_bytes, from_bytes_within, is_packed, is_to_come, read,
    to_json,
};
pub use tags::{Tag, Taken, check_tag};
pub use write::{check_writable, write, write_bytes};

use crate::{crash, utc};
use model::run::Run;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
    #[error("can't read {}: there is no such file (nor is it `last`, `last~1`, a tag or the beginning of a run's id)", path.display())]
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
    /// Several documents say in their names that they are of this run.
    #[error(
        "several files hold the run {id}: {} (delete or move all but one)",
        listed(paths)
    )]
    Twice {
        /// The whole id.
        id: String,
        /// The files.
        paths: Vec<PathBuf>,
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
    /// The text can't be a tag, or the tag's file is broken.
    #[error("{name:?} can't be a tag: {why}")]
    BadTag {
        /// What was given.
        name: String,
        /// Why not.
        why: String,
    },
    /// Another run has the tag.
    #[error(
        "the tag {name} names the run {run} already: --move gives it to another, --add to both"
    )]
    TagTaken {
        /// The tag.
        name: String,
        /// The run that has it.
        run: String,
    },
    /// There is no such tag.
    #[error("there is no tag {name:?} (latlas atlas list --tag lists them)")]
    NoSuchTag {
        /// What was given.
        name: String,
    },
    /// The run that a tag names is gone.
    #[error(
        "the tag {name} names the run {run}, which is kept no more (latlas atlas tag --remove {name})"
    )]
    LostTag {
        /// The tag.
        name: String,
        /// The run that it names.
        run: String,
    },
    /// The index can't be made anew: there is no permission, or no room.
    #[error("can't make the index {} anew: {cause}", path.display())]
    IndexUnwritable {
        /// The index, or where it would be.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
    /// Neither the index nor one made in memory answers.
    #[error("can't use the index {}: {cause} (latlas atlas rebuild makes it anew)", path.display())]
    Index {
        /// The index, or where it would be.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
}

fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    names.join(", ")
}

/// Attaches what was tried, on what, to an error of the operating system.
fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    move |cause| StoreError::Io {
        action,
        path: path.to_owned(),
        cause,
    }
}

/// Where the user's configuration has runs kept.
static KEPT_BELOW: OnceLock<PathBuf> = OnceLock::new();

/// Has [`data_dir`] answer this, unless the environment names one. Only the
/// first call counts: runs don't move while a program runs.
pub fn keep_below(directory: PathBuf) {
    let _ = KEPT_BELOW.set(directory);
}

/// The platform's data directory for latlas. `LATLAS_DATA_DIR` overrides it,
/// and then [`keep_below`].
pub fn data_dir() -> Result<PathBuf, StoreError> {
    let configured = KEPT_BELOW.get().map(PathBuf::as_path);
    data_dir_from(|name| std::env::var_os(name), configured)
}

/// Names a data directory.
const OWN: &str = "LATLAS_DATA_DIR";

/// `configured` is what the configuration says.
fn data_dir_from(
    variable: impl Fn(&str) -> Option<OsString>,
    configured: Option<&Path>,
) -> Result<PathBuf, StoreError> {
    // An empty variable is as good as none.
    let path = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(own) = path(OWN).or_else(|| configured.map(Path::to_owned)) {
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
            // Somebody kept it in between.
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
            moved => moved.map_err(io("write", damaged))?,
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
                std::fs::rename(&aside, damaged).map_err(io("write", damaged))?;
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

    /// Paths of all kept runs, the oldest first.
    pub fn paths(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut paths = self.files()?;
        paths.retain(|path| id_in_name(path).is_some());
        paths.sort_by(|a, b| time_in_name(a).cmp(&time_in_name(b)).then(a.cmp(b)));
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
        std::fs::remove_file(path).map_err(io("remove", path))?;
        write::sync_directory(&self.runs).map_err(io("sync", &self.runs))
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
                    return Err(io("remove", path)(e));
                }
                _ => {}
            }
        }
        Ok(files.len())
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

/// Every file in a directory; none where there is no such directory.
fn files_in(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(io("read", dir)(e)),
    };
    let path = |entry: std::io::Result<std::fs::DirEntry>| entry.map(|entry| entry.path());
    let all: std::io::Result<_> = entries.map(path).collect();
    all.map_err(io("read", dir))
}

fn kept_already(path: &Path) -> StoreError {
    StoreError::Io {
        action: "write",
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
    let store = || store.as_ref().map_err(|_| StoreError::NoDataDirectory);
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
        let of = |set: &[(&str, &str)]| data_dir_from(environment(set), None);
        let xdg = [("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(of(&xdg).expect("xdg"), Path::new("/x/latlas"));
        let own = [("LATLAS_DATA_DIR", "/own"), ("XDG_DATA_HOME", "/x")];
        assert_eq!(of(&own).expect("own"), Path::new("/own"));
        let relative = of(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")]).expect("home");
        assert!(relative.starts_with("/h"), "{relative:?}");
        assert!(matches!(of(&[]), Err(StoreError::NoDataDirectory)));
        let configured = |set: &[(&str, &str)]| {
            data_dir_from(environment(set), Some(Path::new("/configured"))).expect("a place")
        };
        assert_eq!(configured(&own), Path::new("/own"));
        for set in [&xdg[..], &[("LATLAS_DATA_DIR", ""), ("HOME", "/h")], &[]] {
            assert_eq!(configured(set), Path::new("/configured"));
        }
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
