//! The directory of a run: created with its lock, removed at the end; directories of killed runs are
//! recognised by their free lock and removed. Which place it is in is chosen in `choice.rs`, next to this
//! file.

use super::dir::ScratchDir;
use super::error::{ScratchError, Unusable};
use model::filesystem::DeviceKind;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use sys::filesystem::{is_ours, try_lock};
use sys::trust::{self, Distrust};
use uuid::Uuid;

/// What holds the directories of all of this user's runs in a place. Another
/// user's would not let us in, so that each has one.
fn common_in(place: &ScratchDir) -> PathBuf {
    let user = sys::filesystem::user();
    place.directory.join(format!("latlas-scratch-{user}"))
}

/// Whose leftovers are removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sweep {
    /// Of all runs whose lock is free.
    All,
    /// Only of those that ran on this host since it was started: other hosts
    /// may have the same files, and not see each other's locks.
    ThisBoot,
}

impl Sweep {
    fn start_in(place: &ScratchDir) -> Sweep {
        match place.filesystem.device {
            DeviceKind::Network => Sweep::ThisBoot,
            _ => Sweep::All,
        }
    }
}

/// Tries at a directory that another run keeps removing under ours.
const TRIES: u32 = 100;

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
    pub fn make(place: &ScratchDir) -> Result<Scratch, ScratchError> {
        let common = common_in(place);
        let mut made = Vec::new();
        for _ in 0..TRIES {
            // Another run may remove the common directory as its last one
            // just now: from the beginning then.
            match try_make(&common, Sweep::start_in(place), &mut made) {
                Ok(Some(scratch)) => return Ok(scratch),
                Ok(None) => {}
                Err(why) => {
                    remove_empty(&made);
                    return Err(ScratchError::NotMade { directory: place.directory.clone(), why });
                }
            }
        }
        remove_empty(&made);
        Err(ScratchError::KeepsVanishing(common))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it.
    pub fn remove(mut self) -> Result<(), ScratchError> {
        self.remove_directory()
    }

    fn remove_directory(&mut self) -> Result<(), ScratchError> {
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
        let _ = self.remove_directory();
    }
}

/// Removes what killed runs left in a place, if it is there at all.
pub fn sweep(place: &ScratchDir) {
    let common = common_in(place);
    if check_common(&common).is_ok() {
        sweep_common(&common, Sweep::start_in(place));
        let _ = std::fs::remove_dir(&common);
    }
}

fn try_make(
    common: &Path,
    sweep: Sweep,
    made: &mut Vec<PathBuf>,
) -> Result<Option<Scratch>, Unusable> {
    make_directories(common, made)?;
    match check_common(common) {
        Err(Unusable::Missing) => return Ok(None),
        checked => checked?,
    }
    sweep_common(common, sweep);
    let name = format!("run-{}", Uuid::new_v4());
    let lock_path = common.join(format!("{name}.lock"));
    let mut lock = match owner_only().create_new(true).write(true).open(&lock_path) {
        Ok(lock) => lock,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    match take_lock(&lock) {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(e) => {
            let _ = std::fs::remove_file(&lock_path);
            return Err(Unusable::NotLockable(e.to_string()));
        }
    }
    // Where it can't be written, nobody but this run will remove it from a
    // disk that hosts share.
    if let Some(boot) = sys::machine::this_boot() {
        let _ = lock.write_all(boot.as_bytes());
    }
    let path = common.join(name);
    if let Err(e) = DirBuilder::new().mode(0o700).create(&path) {
        let _ = std::fs::remove_file(&lock_path);
        return match e.kind() {
            ErrorKind::NotFound => Ok(None),
            _ => Err(e.into()),
        };
    }
    Ok(Some(Scratch { path, lock_path, _lock: lock, made: std::mem::take(made), removed: false }))
}

/// Takes the lock just made, unless somebody who swept right then took it for
/// a leftover: it may be locked, or have lost its name.
fn take_lock(lock: &File) -> io::Result<bool> {
    Ok(try_lock(lock)? && lock.metadata()?.nlink() > 0)
}

fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Makes a directory and those above it; adds what was not there to `made`.
fn make_directories(directory: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<&Path> =
        directory.ancestors().take_while(|path| path.symlink_metadata().is_err()).collect();
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
fn check_common(common: &Path) -> Result<(), Unusable> {
    let path = common.to_owned();
    if !common.symlink_metadata()?.is_dir() {
        return Err(Unusable::Occupied(path));
    }
    match trust::doubt(common)? {
        Some(why) => Err(Unusable::Distrusted(Distrust { path, why }.to_string())),
        None => Ok(()),
    }
}

/// Removes the directories and locks of runs that are no more. Names that no
/// run makes, links, and what belongs to others stay.
fn sweep_common(common: &Path, sweep: Sweep) {
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
        let Some(_lock) = free(&lock_path, sweep) else {
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
fn free(lock_path: &Path, sweep: Sweep) -> Option<Option<File>> {
    // Of a run of another host one may see the directory before the lock.
    let missing = || (sweep == Sweep::All).then_some(None);
    match lock_path.symlink_metadata() {
        Err(e) if e.kind() == ErrorKind::NotFound => return missing(),
        Ok(found) if found.is_file() && is_ours(&found) => {}
        _ => return None,
    }
    if sweep == Sweep::ThisBoot {
        let written = std::fs::read_to_string(lock_path).ok()?;
        if sys::machine::this_boot()? != written {
            return None;
        }
    }
    let lock = match OpenOptions::new().write(true).open(lock_path) {
        Ok(lock) => lock,
        Err(e) if e.kind() == ErrorKind::NotFound => return missing(),
        Err(_) => return None,
    };
    matches!(try_lock(&lock), Ok(true)).then_some(Some(lock))
}

/// Removes a run's directory, its lock, and the common directory if it was
/// the last.
fn remove(path: &Path, lock_path: &Path) -> Result<(), ScratchError> {
    let left = |path: &Path, error: io::Error| ScratchError::Left {
        path: path.to_owned(),
        why: error.into(),
    };
    remove_tree(path).map_err(|e| left(path, e))?;
    match std::fs::remove_file(lock_path) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            return Err(left(lock_path, e));
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
                return Err(io::Error::other("it is not a directory of latlas"));
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
