//! Why there is no directory for files, or why it failed.

use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a directory can't be used for files.
#[derive(thiserror::Error, Serialize, Deserialize, Clone, Debug, PartialEq)]
pub enum Unusable {
    /// It is missing.
    #[error("there is no such directory")]
    Missing,
    /// It was there when the run began.
    #[error("the scratch directory is gone")]
    Gone,
    /// It is a file.
    #[error("it is not a directory")]
    NotADirectory,
    /// It shows what the kernel knows, say.
    #[error("no files can be made there")]
    NoFiles,
    /// It belongs to another user, say.
    #[error("no permission to write there")]
    NoPermission,
    /// It is mounted so.
    #[error("the file system is read-only")]
    ReadOnly,
    /// No block is free.
    #[error("the disk is full")]
    DiskFull,
    /// The user's part is used up.
    #[error("the disk quota is used up")]
    QuotaExceeded,
    /// The file system lies in memory.
    #[error("{0} is memory")]
    Memory(String),
    /// The file system is on another machine.
    #[error("{0} is no disk of this machine")]
    Network(String),
    /// The file system hides where it keeps its files.
    #[error("what the {0} keeps its files on can't be seen from here, and may be memory")]
    Hidden(String),
    /// Locks are what leftovers are recognized by.
    #[error("files can't be locked there: {0}")]
    NotLockable(String),
    /// Something else has the name of the directory of all runs.
    #[error("{} is there and is no directory", .0.display())]
    Occupied(PathBuf),
    /// Another user could put links into the directory of all runs.
    #[error("{0}")]
    Distrusted(String),
    /// Anything else that the system says.
    #[error("{0}")]
    System(String),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Unusable {
        Unusable::from(&error)
    }
}

impl From<&io::Error> for Unusable {
    fn from(error: &io::Error) -> Unusable {
        match error.kind() {
            ErrorKind::NotFound => Unusable::Missing,
            ErrorKind::NotADirectory => Unusable::NotADirectory,
            ErrorKind::PermissionDenied => Unusable::NoPermission,
            ErrorKind::ReadOnlyFilesystem => Unusable::ReadOnly,
            ErrorKind::StorageFull => Unusable::DiskFull,
            ErrorKind::QuotaExceeded => Unusable::QuotaExceeded,
            _ => Unusable::System(error.to_string()),
        }
    }
}

/// Why there is no directory for files, or why it failed: a row's reason.
#[derive(thiserror::Error, Serialize, Deserialize, Clone, Debug, PartialEq)]
pub enum ScratchError {
    /// The directory that the user named.
    #[error("can't put files in {}: {why}; name another directory with --dir", directory.display())]
    Named {
        /// Which.
        directory: PathBuf,
        /// Why it can't be used.
        why: Unusable,
    },
    /// None of the default directories, each with why.
    #[error("no directory on a disk ({}); name a directory with --dir", listed(.0))]
    NoDefault(Vec<(PathBuf, Unusable)>),
    /// A run's own can't be made.
    #[error("can't make a directory in {}: {why}; name another with --dir", directory.display())]
    NotMade {
        /// Where.
        directory: PathBuf,
        /// Why not.
        why: Unusable,
    },
    /// A run's own is removed again and again.
    #[error("another process keeps removing {}", .0.display())]
    KeepsVanishing(PathBuf),
    /// A run's own can't be removed.
    #[error("{} is left: {why}", path.display())]
    Left {
        /// What is left of it.
        path: PathBuf,
        /// Why.
        why: Unusable,
    },
    /// No row of the run puts files anywhere.
    #[error("no row that needs it is measured")]
    NotNeeded,
    /// This was not a run.
    #[error("no directory for files was made")]
    NotChosen,
    /// A file in it failed: `the disk is full (writing 1MiB in /x)`.
    #[error("{why} ({doing} in {})", directory.display())]
    File {
        /// What was tried.
        doing: String,
        /// Where.
        directory: PathBuf,
        /// Why not.
        why: Unusable,
    },
}

impl ScratchError {
    /// Why something with files in the scratch directory failed.
    pub fn file(error: &io::Error, doing: &str, directory: &Path) -> ScratchError {
        let gone = error.kind() == ErrorKind::NotFound && !directory.exists();
        ScratchError::File {
            doing: doing.to_owned(),
            directory: directory.to_owned(),
            why: match gone {
                true => Unusable::Gone,
                false => Unusable::from(error),
            },
        }
    }
}

fn listed(refused: &[(PathBuf, Unusable)]) -> String {
    let texts = refused.iter().map(|(at, why)| format!("{}: {why}", at.display()));
    texts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_rows_say_what_and_where() {
        let dir = tempfile::tempdir().expect("a directory");
        let of = |kind: ErrorKind, at: &Path| ScratchError::file(&kind.into(), "writing 1MiB", at);
        let at = dir.path().display();
        assert_eq!(
            of(ErrorKind::StorageFull, dir.path()).to_string(),
            format!("the disk is full (writing 1MiB in {at})")
        );
        let why = |kind, at: &Path| match of(kind, at) {
            ScratchError::File { why, .. } => why,
            other => panic!("{other}"),
        };
        assert_eq!(why(ErrorKind::QuotaExceeded, dir.path()), Unusable::QuotaExceeded);
        assert_eq!(why(ErrorKind::NotFound, &dir.path().join("gone")), Unusable::Gone);
        assert_eq!(why(ErrorKind::NotFound, dir.path()), Unusable::Missing);
    }
}
