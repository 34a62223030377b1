//! Directories that survive a power cut.

use crate::StoreError;
use crate::error::{FileAction, io};
use std::io::ErrorKind;
use std::path::Path;
use sys::place::Place;

/// Directory of a file, for a bare name the current one.
pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A new name, or one that is gone, must survive a power cut as well. Where a
/// file system can't sync a directory, or it may not be opened, nothing better
/// can be had; any other error is one.
pub(super) fn sync(place: &Place) -> std::io::Result<()> {
    place.sync().or_else(|error| match can_not_be_synced(error.kind()) {
        true => Ok(()),
        false => Err(error),
    })
}

pub(crate) fn remove(path: &Path) -> std::io::Result<()> {
    let place = Place::entry(path)?;
    place.remove(place.name())?;
    sync(&place)
}

/// EINVAL and ENOTSUP (fsync(2): the file does not support it), EROFS, and
/// EACCES of a directory that may be written and not read.
pub(super) fn can_not_be_synced(error: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind;
    matches!(
        error,
        ErrorKind::InvalidInput
            | ErrorKind::Unsupported
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::PermissionDenied
    )
}

/// Makes a directory with those above it, each of which survives a power cut.
pub(crate) fn make_directory(path: &Path) -> Result<(), StoreError> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.is_dir())
        .collect();
    let made = missing.iter().rev().try_for_each(|path| {
        let place = Place::find(path)?;
        match place.make_directory() {
            // Another latlas made it.
            Err(e) if e.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            made => made.and_then(|()| sync(&place)),
        }
    });
    made.map_err(io(FileAction::Create, path))
}
