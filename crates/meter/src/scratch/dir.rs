//! The directory that files of rows go to, and why it may fail.

use model::filesystem::Filesystem;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A place for files.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct ScratchDir {
    /// The directory: before a run the one under which its own is made, in a
    /// worker the run's own.
    pub directory: PathBuf,
    /// What it is on.
    pub filesystem: Filesystem,
    /// Whether the user named it.
    pub named: bool,
}

impl ScratchDir {
    pub(super) fn new(directory: PathBuf, filesystem: Filesystem, named: bool) -> ScratchDir {
        ScratchDir {
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
pub(super) fn cause(error: &io::Error) -> String {
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
