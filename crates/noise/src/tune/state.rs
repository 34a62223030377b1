//! Where the journal is; one process at a time works with it.

use super::TuneError;
use super::faults::Faults;
use super::journal;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::files::Files;

/// Where it is unless [`VARIABLE`] says otherwise (hier(7)).
const USUAL: &str = "/var/lib/latlas/noise";

/// Names another state directory.
pub const VARIABLE: &str = "LATLAS_STATE_DIR";

/// Between two looks at a lock that is held.
const LOOK: Duration = Duration::from_millis(20);

/// The directory of the journal, and how tunes of it behave.
#[derive(Clone, Debug)]
pub struct StateDir {
    pub(crate) path: PathBuf,
    /// The tree that the watchdog is to put back.
    pub(crate) root: PathBuf,
    pub(crate) watched: bool,
    pub(crate) faults: Faults,
}

/// Held while the journal is worked with; the kernel lets go of it when the
/// process ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl StateDir {
    /// The system's: `/var/lib/latlas/noise`, or what `LATLAS_STATE_DIR` says.
    /// Tunes of it have a watchdog.
    pub fn system() -> StateDir {
        let path = std::env::var_os(VARIABLE)
            .filter(|path| !path.is_empty())
            .map_or_else(|| PathBuf::from(USUAL), PathBuf::from);
        StateDir {
            path,
            root: PathBuf::from("/"),
            watched: true,
            faults: Faults::default(),
        }
    }

    /// This directory, without a watchdog.
    pub fn at(path: &Path) -> StateDir {
        StateDir {
            path: path.to_owned(),
            root: PathBuf::from("/"),
            watched: false,
            faults: Faults::default(),
        }
    }

    /// For files below another root than `/`: fixtures.
    #[must_use]
    pub fn of_tree(self, root: &Path) -> StateDir {
        StateDir {
            // One name for one tree: the journal tells of which it is.
            root: root
                .canonicalize()
                .or_else(|_| std::path::absolute(root))
                .unwrap_or_else(|_| root.to_owned()),
            ..self
        }
    }

    /// Whether a process of its own puts everything back if this one ends
    /// before it did.
    #[must_use]
    pub fn watched(self, watched: bool) -> StateDir {
        StateDir { watched, ..self }
    }

    /// With a hook before each action, for tests of crashes.
    #[must_use]
    pub fn with_faults(self, faults: Faults) -> StateDir {
        StateDir { faults, ..self }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the directory if it is not there, and looks whether others could
    /// write in it.
    pub(crate) fn prepare(&self) -> Result<(), TuneError> {
        let unusable = |error: io::Error| TuneError::StateDirectory {
            path: self.path.clone(),
            why: error.to_string(),
        };
        let mut missing: Vec<&Path> = self
            .path
            .ancestors()
            .filter(|path| !path.as_os_str().is_empty())
            .take_while(|path| !path.exists())
            .collect();
        missing.reverse();
        for path in missing {
            match DirBuilder::new().mode(0o755).create(path) {
                // Another latlas made it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(unusable)?,
            }
            // Anybody may see that something waits to be put back, whatever
            // root's umask(2) is.
            std::fs::set_permissions(path, Permissions::from_mode(0o755)).map_err(unusable)?;
            if let Some(parent) = path.parent().filter(|p| p.is_dir()) {
                journal::sync(parent).map_err(unusable)?;
            }
        }
        self.check()
    }

    /// That no other user may write in the directory, or put another in its place.
    pub(crate) fn check(&self) -> Result<(), TuneError> {
        let refused = |why: &str| TuneError::StateDirectory {
            path: self.path.clone(),
            why: why.to_owned(),
        };
        sys::trust::check(&self.path).map_err(|error| refused(&error.to_string()))?;
        match self.path.is_dir() {
            true => Ok(()),
            false => Err(refused("not a directory")),
        }
    }

    /// Takes the lock, waiting so long for its holder.
    pub(crate) fn lock(&self, patience: Duration) -> Result<Lock, TuneError> {
        let path = self.path.join("lock");
        let unusable = |error: io::Error| TuneError::StateDirectory {
            path: path.clone(),
            why: error.to_string(),
        };
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(unusable)?;
        let began = Instant::now();
        while !sys::filesystem::try_lock(&file).map_err(unusable)? {
            if began.elapsed() >= patience {
                return Err(TuneError::Busy {
                    path: self.path.clone(),
                });
            }
            std::thread::sleep(LOOK);
        }
        Ok(Lock { _file: file })
    }
}

/// This boot of the system (random(4)).
pub(crate) fn boot_id(files: &dyn Files) -> Result<String, TuneError> {
    const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
    files.read(BOOT_ID).map_err(|error| TuneError::NoBootId {
        why: format!("{BOOT_ID}: {error}"),
    })
}
