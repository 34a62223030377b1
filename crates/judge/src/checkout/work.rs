//! The folder that holds the trees, in latlas' own data. It is removed when its process ends, or by the next one.

use super::git::remove_worktree;
use super::{CheckoutError, folder_error};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Below latlas' data.
const FOLDER: &str = "judging";
/// Held as long as the process lives.
const LOCK: &str = "lock";
/// The repositories that know the trees, each ended by a zero byte.
const REPOSITORIES: &str = "repositories";

/// The folder of this process.
#[derive(Debug)]
pub(super) struct WorkFolder {
    path: PathBuf,
    /// Its lock goes with the process.
    _lock: File,
}

impl WorkFolder {
    /// A new one; those that killed processes left are removed first.
    pub(super) fn make(data_dir: &Path) -> Result<WorkFolder, CheckoutError> {
        let all = data_dir.join(FOLDER);
        let failed = |error| folder_error(&all, error);
        fs::create_dir_all(&all).map_err(failed)?;
        let all = all.canonicalize().map_err(failed)?;
        // One at a time, so that none is removed by another before it is locked.
        let turn = File::create(all.join(LOCK)).map_err(failed)?;
        sys::filesystem::wait_for_lock(&turn).map_err(failed)?;
        remove_left(&all);
        // Names of one length, so that paths are as long in every run.
        let made = tempfile::Builder::new().prefix("w").rand_bytes(8).tempdir_in(&all);
        let path = made.map_err(failed)?.keep();
        let lock = File::create(path.join(LOCK)).map_err(failed)?;
        sys::filesystem::try_lock(&lock).map_err(failed)?;
        Ok(WorkFolder { path, _lock: lock })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.path
    }

    /// Keeps which repository will have a tree here.
    pub(super) fn note_repository(&self, top: &Path) -> io::Result<()> {
        if repositories(&self.path).iter().any(|noted| noted == top) {
            return Ok(());
        }
        let file = File::options().create(true).append(true).open(self.path.join(REPOSITORIES));
        let line = [top.as_os_str().as_bytes(), b"\0"].concat();
        file?.write_all(&line)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        remove_work(&self.path);
    }
}

/// Removes folders whose process has ended.
fn remove_left(all: &Path) {
    let Ok(entries) = fs::read_dir(all) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        // One without a lock was being made, or removed, by a process that was killed: none is made at this time.
        let is_left = match File::open(path.join(LOCK)) {
            Ok(lock) => sys::filesystem::try_lock(&lock).unwrap_or(false),
            Err(error) => error.kind() == io::ErrorKind::NotFound && path.is_dir(),
        };
        if is_left {
            remove_work(&path);
        }
    }
}

/// Those that are noted.
fn repositories(folder: &Path) -> Vec<PathBuf> {
    let noted = fs::read(folder.join(REPOSITORIES)).unwrap_or_default();
    let names = noted.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    names.map(|name| OsString::from_vec(name.to_vec()).into()).collect()
}

fn remove_work(folder: &Path) {
    for repository in repositories(folder) {
        for side in ["base", "head"] {
            let tree = folder.join(side).join("tree");
            // Its name in the repository may be there before the tree is.
            remove_worktree(&repository, &tree);
        }
    }
    make_removable(folder);
    // What can't be removed now is removed by the next one.
    let _ = fs::remove_dir_all(folder);
}

/// Go's module cache, and other tools, make folders that nothing may be removed from.
fn make_removable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(found) = fs::symlink_metadata(entry.path()) else { continue };
        if !found.is_dir() {
            continue;
        }
        let mut permissions = found.permissions();
        if permissions.mode() & 0o300 != 0o300 {
            permissions.set_mode(permissions.mode() | 0o700);
            let _ = fs::set_permissions(entry.path(), permissions);
        }
        make_removable(&entry.path());
    }
}
