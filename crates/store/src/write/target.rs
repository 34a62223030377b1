//! What a path leads to.

use crate::StoreError;
use crate::error::{FileAction, io};
use std::path::{Path, PathBuf};

/// Where the bytes go.
pub(super) enum Target {
    /// A device or a pipe, which a rename would replace by a file.
    Stream,
    /// A file, links followed: a rename would replace the link itself.
    File(PathBuf),
}

pub(super) fn target(path: &Path) -> Result<Target, StoreError> {
    let not_a_file = |reason| StoreError::NotAFile {
        path: path.to_owned(),
        reason,
    };
    if path.file_name().is_none() {
        return Err(not_a_file("that is not the name of a file"));
    }
    match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Target::File(path.to_owned())),
        Err(e) => Err(io(FileAction::Write, path)(e)),
        Ok(found) if found.is_dir() => Err(not_a_file("it is a directory")),
        Ok(found) if !found.is_file() => Ok(Target::Stream),
        Ok(found) if found.permissions().readonly() => {
            Err(not_a_file("the file there is read-only"))
        }
        Ok(_) => std::fs::canonicalize(path)
            .map(Target::File)
            .map_err(io(FileAction::Write, path)),
    }
}

/// Whether what is written there is compressed.
pub(super) fn is_packed_name(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == "zst")
}
