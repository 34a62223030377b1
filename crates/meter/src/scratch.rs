//! Where rows of files put theirs: which directory, and its life.
//!
//! A run has one directory of its own, `latlas-scratch-<uid>/run-<uuid>` (mode
//! 0700; the number is the user's, since a place may be shared), made when a planned row wants it and removed by whatever way the run ends.
//! Beside it lies `run-<uuid>.lock`, whose lock (`flock(2)`) the run holds: the
//! system lets go of it when a run is killed, and the next run in that place
//! removes what has no lock. The lock's file is there before the directory and
//! goes after it, so that a directory without one is nobody's. In it stands on
//! which host its run is: of what other hosts may share, only this host's
//! leftovers are removed.

mod choice;
mod life;

pub(crate) use choice::nearest;
pub use choice::{by_default, named};
pub use life::{Scratch, sweep};

use model::filesystem::Filesystem;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_rows_say_what_and_where() {
        let dir = tempfile::tempdir().expect("a directory");
        let said = |kind: ErrorKind, at: &Path| reason(&kind.into(), "writing 1MiB", at);
        let at = dir.path().display();
        assert_eq!(
            said(ErrorKind::StorageFull, dir.path()),
            format!("the disk is full (writing 1MiB in {at})")
        );
        assert!(said(ErrorKind::QuotaExceeded, dir.path()).starts_with("the disk quota"));
        let gone = dir.path().join("gone");
        assert!(said(ErrorKind::NotFound, &gone).starts_with("the scratch directory is gone"));
        assert!(said(ErrorKind::NotFound, dir.path()).starts_with("there is no such"));
    }
}
