//! Where rows of files put theirs: which directory, and its life.
//!
//! A run has one directory of its own, `latlas-scratch/run-<uuid>` (mode 0700),
//! made when a planned row wants it and removed by whatever way the run ends.
//! Beside it lies `run-<uuid>.lock`, whose lock (`flock(2)`) the run holds: the
//! system lets go of it when a run is killed, and the next run in that place
//! removes what has no lock. The lock's file is there before the directory and
//! goes after it, so that a directory without one is nobody's.

use model::filesystem::{DeviceKind, Filesystem};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use sys::filesystem::{is_ours, try_lock};
use uuid::Uuid;

/// What holds the directories of all runs in a place.
const COMMON: &str = "latlas-scratch";

/// Tries at a directory that another run keeps removing under ours.
const TRIES: u32 = 100;

/// A place for files.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Place {
    /// The directory: before a run the one under which its own is made, in a
    /// worker the run's own.
    pub directory: PathBuf,
    /// What it is on.
    pub filesystem: Filesystem,
    /// Whether the user named it.
    pub named: bool,
}

impl Place {
    fn new(directory: PathBuf, filesystem: Filesystem, named: bool) -> Place {
        Place {
            filesystem: Filesystem {
                directory: directory.display().to_string(),
                ..filesystem
            },
            directory,
            named,
        }
    }
}

/// The directory that a user names. It may be on any file system, memory
/// included.
///
/// # Errors
/// Why it can't be used, in one line.
pub fn named(directory: &Path) -> Result<Place, String> {
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    usable(&directory)
        .map(|filesystem| Place::new(directory.clone(), filesystem, true))
        .map_err(|why| {
            format!(
                "can't put files in {}: {why}; name another directory with --dir",
                directory.display()
            )
        })
}

/// The directory that is used when none is named: the user's cache directory
/// if that is on a disk, else /var/tmp if that is.
///
/// # Errors
/// Why there is none, ready to stand behind `not available here: `.
pub fn by_default() -> Result<Place, String> {
    by_default_of(&candidates(|name| std::env::var_os(name)), |directory| {
        usable(&existing(directory)?)
    })
}

fn by_default_of(
    candidates: &[PathBuf],
    look: impl Fn(&Path) -> Result<Filesystem, String>,
) -> Result<Place, String> {
    let mut refused = Vec::new();
    for directory in candidates {
        let found = look(directory).and_then(|filesystem| {
            on_disk(&filesystem)?;
            Ok(filesystem)
        });
        match found {
            Ok(filesystem) => {
                return Ok(Place::new(directory.clone(), filesystem, false));
            }
            Err(why) => refused.push(format!("{}: {why}", directory.display())),
        }
    }
    Err(format!(
        "no directory on a disk ({}); name a directory with --dir",
        refused.join("; ")
    ))
}

/// Directories that may be chosen by themselves, the best first.
fn candidates(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let path = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            // The XDG specification has relative paths ignored.
            .filter(|path| path.is_absolute())
    };
    let under_home = if cfg!(target_os = "macos") {
        "Library/Caches"
    } else {
        ".cache"
    };
    let cache = path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(under_home)));
    let cache = cache.map(|cache| cache.join("latlas"));
    cache.into_iter().chain(["/var/tmp".into()]).collect()
}

/// Why a file system is not taken without having been named, if it is not.
fn on_disk(filesystem: &Filesystem) -> Result<(), String> {
    let kind = &filesystem.kind;
    match filesystem.device {
        DeviceKind::Memory => Err(format!("{kind} is memory")),
        DeviceKind::Network => Err(format!("{kind} is no disk of this machine")),
        DeviceKind::Overlay => Err(format!(
            "what the {kind} keeps its files on can't be seen from here, and may be memory"
        )),
        _ => Ok(()),
    }
}

/// The directory itself, or the nearest above it that is there.
fn existing(directory: &Path) -> Result<PathBuf, String> {
    directory
        .ancestors()
        .find(|path| path.symlink_metadata().is_ok())
        .map(Path::to_owned)
        .ok_or_else(|| "no such directory".into())
}

/// The file system of a directory that files can be made in.
fn usable(directory: &Path) -> Result<Filesystem, String> {
    sys::filesystem::may_write(directory).map_err(|e| cause(&e))?;
    sys::filesystem::facts(directory).map_err(|e| cause(&e))
}

/// An error of a file system in words.
fn cause(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such directory".into(),
        ErrorKind::NotADirectory => "it is not a directory".into(),
        ErrorKind::PermissionDenied => "no permission to write there".into(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        ErrorKind::StorageFull => "the disk is full".into(),
        ErrorKind::QuotaExceeded => "the disk quota is used up".into(),
        _ => error.to_string(),
    }
}

/// Why something with files in the scratch directory failed, as a row's
/// reason: `the disk is full (writing 1MiB in /x)`.
pub fn reason(error: &io::Error, doing: &str, directory: &Path) -> String {
    let gone = error.kind() == ErrorKind::NotFound && !directory.exists();
    let why = match gone {
        true => "the scratch directory is gone".into(),
        false => cause(error),
    };
    format!("{why} ({doing} in {})", directory.display())
}

/// The directory of a run. Removed with everything in it when this is
/// dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    lock_path: PathBuf,
    /// Held for as long as the run lasts.
    _lock: File,
    /// Directories above that were not there, the outermost first.
    made: Vec<PathBuf>,
    removed: bool,
}

impl Scratch {
    /// Removes what killed runs left in this place, and makes a directory of
    /// one's own.
    ///
    /// # Errors
    /// Why there is none, in one line.
    pub fn make(place: &Place) -> Result<Scratch, String> {
        let common = place.directory.join(COMMON);
        let mut made = Vec::new();
        for _ in 0..TRIES {
            // Another run may remove the common directory as its last one
            // just now: from the beginning then.
            match try_make(&common, &mut made) {
                Ok(Some(scratch)) => return Ok(scratch),
                Ok(None) => {}
                Err(why) => {
                    remove_empty(&made);
                    return Err(format!(
                        "can't make a directory in {}: {why}; name another with --dir",
                        place.directory.display()
                    ));
                }
            }
        }
        remove_empty(&made);
        Err(format!(
            "{} is removed again and again by somebody else",
            common.display()
        ))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it.
    ///
    /// # Errors
    /// What is left, and why.
    pub fn remove(mut self) -> Result<(), String> {
        self.end()
    }

    fn end(&mut self) -> Result<(), String> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        let done = remove(&self.path, &self.lock_path);
        remove_empty(&self.made);
        done
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to tell; the next run finds it.
        let _ = self.end();
    }
}

/// Removes what killed runs left in a place, if it is there at all.
pub fn sweep(place: &Place) {
    let common = place.directory.join(COMMON);
    if check_common(&common).is_ok() {
        sweep_common(&common);
        let _ = std::fs::remove_dir(&common);
    }
}

fn try_make(common: &Path, made: &mut Vec<PathBuf>) -> Result<Option<Scratch>, String> {
    make_directories(common, made).map_err(|e| cause(&e))?;
    match check_common(common) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e.to_string()),
        Ok(()) => {}
    }
    sweep_common(common);
    let name = format!("run-{}", Uuid::new_v4());
    let lock_path = common.join(format!("{name}.lock"));
    let lock = match owner_only().create_new(true).write(true).open(&lock_path) {
        Ok(lock) => lock,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(cause(&e)),
    };
    match take(&lock) {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(e) => {
            let _ = std::fs::remove_file(&lock_path);
            return Err(format!("files can't be locked there: {e}"));
        }
    }
    let path = common.join(name);
    if let Err(e) = DirBuilder::new().mode(0o700).create(&path) {
        let _ = std::fs::remove_file(&lock_path);
        return match e.kind() {
            ErrorKind::NotFound => Ok(None),
            _ => Err(cause(&e)),
        };
    }
    Ok(Some(Scratch {
        path,
        lock_path,
        _lock: lock,
        made: std::mem::take(made),
        removed: false,
    }))
}

/// Takes the lock just made, unless somebody who swept right then took it for
/// a leftover: it may be locked, or have lost its name.
fn take(lock: &File) -> io::Result<bool> {
    Ok(try_lock(lock)? && lock.metadata()?.nlink() > 0)
}

fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Makes a directory and those above it; adds what was not there to `made`.
fn make_directories(directory: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|path| path.symlink_metadata().is_err())
        .collect();
    for path in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => {
                if !made.iter().any(|known| known == path) {
                    made.push(path.to_owned());
                }
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// The common directory must be one, ours, and nobody else's to write in:
/// in a place that others may write to, somebody could have put a link there.
fn check_common(common: &Path) -> io::Result<()> {
    let found = common.symlink_metadata()?;
    let refuse = |why: &str| Err(io::Error::other(format!("{} {why}", common.display())));
    if !found.is_dir() {
        return refuse("is there and is no directory");
    }
    if !is_ours(&found) {
        return refuse("belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return refuse("may be written by other users");
    }
    Ok(())
}

/// Removes the directories and locks of runs that are no more. Names that no
/// run makes, links, and what belongs to others stay.
fn sweep_common(common: &Path) {
    let Ok(entries) = std::fs::read_dir(common) else {
        return;
    };
    let mut runs: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(run_of(name.strip_suffix(".lock").unwrap_or(&name))?.to_owned()))
        .collect();
    runs.sort();
    runs.dedup();
    for run in runs {
        let lock_path = common.join(format!("{run}.lock"));
        // Kept until its run is gone: who comes later finds it locked.
        let Some(_lock) = free(&lock_path) else {
            continue;
        };
        // What can't be removed now is tried again by the next run.
        let _ = remove(&common.join(&run), &lock_path);
    }
}

/// A name as a run gives it.
fn run_of(name: &str) -> Option<&str> {
    let uuid = name.strip_prefix("run-")?;
    let parsed = Uuid::try_parse(uuid).ok()?;
    (parsed.get_version_num() == 4 && parsed.to_string() == uuid).then_some(name)
}

/// The lock of a run that is no more, or `Some(None)` where it never was or
/// has been removed. `None` while the run lives, or where that is not known.
fn free(lock_path: &Path) -> Option<Option<File>> {
    match lock_path.symlink_metadata() {
        Err(e) if e.kind() == ErrorKind::NotFound => return Some(None),
        Ok(found) if found.is_file() && is_ours(&found) => {}
        _ => return None,
    }
    let lock = match OpenOptions::new().write(true).open(lock_path) {
        Ok(lock) => lock,
        Err(e) if e.kind() == ErrorKind::NotFound => return Some(None),
        Err(_) => return None,
    };
    matches!(try_lock(&lock), Ok(true)).then_some(Some(lock))
}

/// Removes a run's directory, its lock, and the common directory if it was
/// the last.
fn remove(path: &Path, lock_path: &Path) -> Result<(), String> {
    remove_tree(path).map_err(|e| format!("{} is left: {}", path.display(), cause(&e)))?;
    match std::fs::remove_file(lock_path) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            return Err(format!("{} is left: {}", lock_path.display(), cause(&e)));
        }
        _ => {}
    }
    if let Some(common) = lock_path.parent() {
        // Refused while another run is in it.
        let _ = std::fs::remove_dir(common);
    }
    Ok(())
}

/// Removes a directory of ours with all in it; links in it, or in its place,
/// are not followed. A killed run's workers may still be writing for a
/// moment.
fn remove_tree(path: &Path) -> io::Result<()> {
    for again in (0..TRIES).rev() {
        match path.symlink_metadata() {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(e),
            Ok(found) if !found.is_dir() || !is_ours(&found) => {
                return Err(io::Error::other("it is no directory of ours"));
            }
            Ok(_) => {}
        }
        match std::fs::remove_dir_all(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty && again > 0 => {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            done => return done,
        }
    }
    Ok(())
}

/// Removes directories that are empty, the innermost first.
fn remove_empty(directories: &[PathBuf]) {
    for directory in directories.iter().rev() {
        let _ = std::fs::remove_dir(directory);
    }
}

#[cfg(test)]
mod tests;
