//! Why there is no directory for files, or why it failed.

use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a directory can't be used for files.
#[derive(thiserror::Error, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum Unusable {
    #[error("no such directory")]
    Missing,
    #[error("the scratch directory is gone")]
    Gone,
    #[error("it is not a directory")]
    NotADirectory,
    #[error("no files can be made there")]
    NoFiles,
    #[error("no permission to write there")]
    NoPermission,
    #[error("the file system is read-only")]
    ReadOnly,
    #[error("the disk is full")]
    DiskFull,
    #[error("the disk quota is used up")]
    QuotaExceeded,
    #[error("{0} is memory")]
    Memory(String),
    #[error("{0} is not a disk of this machine")]
    Network(String),
    #[error("what the {0} keeps its files on can't be seen from here, and may be memory")]
    Hidden(String),
    #[error("files can't be locked there: {0}")]
    NotLockable(String),
    #[error("{} exists and is not a directory", .0.display())]
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
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum ScratchError {
    #[error("can't put files in {}: {why}; name another directory with --dir", directory.display())]
    Named { directory: PathBuf, why: Unusable },
    #[error("no directory on a disk ({}); name a directory with --dir", listed(.0))]
    NoDefault(Vec<(PathBuf, Unusable)>),
    #[error("can't make a directory in {}: {why}; name another with --dir", directory.display())]
    NotMade { directory: PathBuf, why: Unusable },
    #[error("another process keeps removing {}", .0.display())]
    KeepsVanishing(PathBuf),
    #[error("{} is left: {why}", path.display())]
    Left { path: PathBuf, why: Unusable },
    #[error("no row that needs it is measured")]
    NotNeeded,
    #[error("no directory for files was made")]
    NotChosen,
    /// A file in it failed: `the disk is full (writing 1MiB in /x)`.
    #[error("{why} ({doing} in {})", directory.display())]
    File { doing: String, directory: PathBuf, why: Unusable },
}

impl ScratchError {
    /// Why something with files in the scratch directory failed.
    pub fn file(error: &io::Error, doing: &str, directory: &Path) -> ScratchError {
        let gone = error.kind() == ErrorKind::NotFound && !directory.exists();
        ScratchError::File {
            doing: doing.to_owned(),
            directory: directory.to_owned(),
            why: if gone { Unusable::Gone } else { Unusable::from(error) },
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
