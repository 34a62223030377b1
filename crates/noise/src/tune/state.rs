//! Where the journal is; one process at a time works with it.
//!
//! What is set is the machine's, whatever state directory a tune has: the lock and a copy of the
//! journal are in a directory of the machine too, where every tune and restore looks first. It is of
//! this boot, as the values are. The copy in the state directory outlives it: where /run is that of a
//! container, which is started anew on the same kernel.

use super::TuneError;
use super::faults::Faults;
use super::journal;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::files::Files;
use sys::filesystem::Signer;

/// Where it is unless [`VARIABLE`] says otherwise (hier(7)).
const USUAL: &str = "/var/lib/latlas/noise";

/// The directory of the machine.
const MACHINE: &str = "/run/latlas";

/// Names another state directory.
pub const VARIABLE: &str = "LATLAS_STATE_DIR";

/// Between two looks at a lock that is held.
const LOOK: Duration = Duration::from_millis(20);

/// The directory of the journal, and how tunes of it behave.
#[derive(Clone, Debug)]
pub struct StateDir {
    pub(crate) path: PathBuf,
    /// That of the machine; none of a fixture.
    pub(crate) machine: Option<PathBuf>,
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
        let path = std::path::absolute(&path).unwrap_or(path);
        StateDir {
            path,
            machine: Some(PathBuf::from(MACHINE)),
            root: PathBuf::from("/"),
            watched: true,
            faults: Faults::default(),
        }
    }

    /// This directory, without a watchdog.
    pub fn at(path: &Path) -> StateDir {
        StateDir {
            path: path.to_owned(),
            machine: None,
            root: PathBuf::from("/"),
            watched: false,
            faults: Faults::default(),
        }
    }

    /// For files below another root than `/`: fixtures.
    #[must_use]
    pub fn of_tree(self, root: &Path) -> StateDir {
        // One name for one tree: the journal tells of which it is.
        let root = root
            .canonicalize()
            .or_else(|_| std::path::absolute(root))
            .unwrap_or_else(|_| root.to_owned());
        StateDir { machine: self.machine.filter(|_| root == Path::new("/")), root, ..self }
    }

    /// With another directory of the machine.
    #[must_use]
    pub fn of_machine(self, directory: Option<PathBuf>) -> StateDir {
        StateDir { machine: directory, ..self }
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

    /// Where journals may be, the first choice first.
    pub(crate) fn directories(&self) -> Vec<&Path> {
        let machine = self.machine.as_deref();
        machine.into_iter().chain([self.path.as_path()]).collect()
    }

    /// Makes the directories if they are not there, and looks whether others could
    /// write in them.
    pub(crate) fn prepare(&self) -> Result<(), TuneError> {
        for directory in self.directories() {
            make_directory(directory).map_err(|error| unusable(directory, error.to_string()))?;
            check_owner(directory)?;
        }
        Ok(())
    }

    /// Whether there is a journal in a directory that only we may write.
    pub(crate) fn has_journal(&self) -> Result<bool, TuneError> {
        let there = |path: &Path| match std::fs::symlink_metadata(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(unusable(path, error.to_string())),
        };
        for directory in self.directories() {
            if !there(directory)? {
                continue;
            }
            check_owner(directory)?;
            if there(&journal::Journal::journal_path(directory))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the lock, waiting so long for its holder.
    pub(crate) fn lock(&self, patience: Duration) -> Result<Lock, TuneError> {
        if let Some(machine) = &self.machine {
            make_directory(machine).map_err(|error| unusable(machine, error.to_string()))?;
            check_owner(machine)?;
        }
        let path = self.machine.as_ref().unwrap_or(&self.path).join("lock");
        let unusable = |error: io::Error| unusable(&path, error.to_string());
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(unusable)?;
        let began = Instant::now();
        while !sys::filesystem::try_lock(&file).map_err(unusable)? {
            if began.elapsed() >= patience {
                let holder = match sys::filesystem::signer(&file) {
                    Ok(Some(Signer::Process(id))) => format!("process {id}"),
                    _ => "process unknown".to_owned(),
                };
                return Err(TuneError::Busy { path, holder });
            }
            std::thread::sleep(LOOK);
        }
        // Only for those who wait.
        let _ = sys::filesystem::sign(&file);
        Ok(Lock { _file: file })
    }
}

fn unusable(path: &Path, why: impl Into<String>) -> TuneError {
    TuneError::StateDirectory { path: path.to_owned(), why: why.into() }
}

fn make_directory(directory: &Path) -> io::Result<()> {
    let mut missing: Vec<&Path> = directory
        .ancestors()
        .filter(|path| !path.as_os_str().is_empty())
        .take_while(|path| !path.exists())
        .collect();
    missing.reverse();
    for path in missing {
        match DirBuilder::new().mode(0o755).create(path) {
            // Another latlas made it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        }
        // Anybody may see that something waits to be put back, whatever
        // root's umask(2) is.
        std::fs::set_permissions(path, Permissions::from_mode(0o755))?;
        if let Some(parent) = path.parent().filter(|p| p.is_dir()) {
            journal::sync(parent)?;
        }
    }
    Ok(())
}

/// That no other user may write in a directory, or put another one in its place.
fn check_owner(directory: &Path) -> Result<(), TuneError> {
    sys::trust::check_path(directory).map_err(|error| unusable(directory, error.to_string()))?;
    if directory.is_dir() { Ok(()) } else { Err(unusable(directory, "not a directory")) }
}

/// This boot of the system (random(4)).
pub(crate) fn boot_id(files: &dyn Files) -> Result<String, TuneError> {
    const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
    files.read(BOOT_ID).map_err(|error| TuneError::NoBootId { why: format!("{BOOT_ID}: {error}") })
}
