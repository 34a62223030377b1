//! Writing a run: either the whole file is there afterwards, or nothing.

mod check;
mod directory;
mod target;
mod temporary;
#[cfg(test)]
mod tests;

pub(super) use check::check_room;
pub use check::check_writable;
pub(super) use directory::{directory, make_directory, sync_directory};
pub(super) use temporary::{is_left_over, temporary_name};

use super::{StoreError, document, io};
use crate::crash;
use crate::error::FileAction;
use model::run::Run;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use target::{Target, is_packed_name, target};
use temporary::create_temporary;

/// zstd's own default: stronger levels save a few percent and cost seconds.
const COMPRESSION_LEVEL: i32 = 3;

/// Writes a run: compressed where the name ends in `.zst`, else plain JSON.
/// A file that was there is replaced in one step.
pub fn write(run: &Run, path: &Path) -> Result<(), StoreError> {
    if is_packed_name(path) {
        return write_bytes(&packed(run)?, path);
    }
    let mut bytes = document::to_json(run)?;
    bytes.push(b'\n');
    write_bytes(&bytes, path)
}

/// A run as it is kept.
pub(super) fn packed(run: &Run) -> Result<Vec<u8>, StoreError> {
    zstd::bulk::compress(&document::to_json(run)?, COMPRESSION_LEVEL)
        .map_err(|e| StoreError::Unwritable(e.to_string()))
}

/// Writes a file that must not be there yet, whole or not at all. Of several
/// that write the same name at once, one does and the others get
/// `AlreadyExists`: a rename would replace, a link does not.
pub(super) fn write_new(bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    write_file(
        path,
        |file| file.write_all(bytes),
        |temporary, path| match std::fs::hard_link(temporary, path) {
            Ok(()) => {
                crash::point("document linked");
                // Whole and in its place: a second name of it does no harm.
                let _ = std::fs::remove_file(temporary);
                Ok(())
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists || path.exists() => {
                Err(std::io::ErrorKind::AlreadyExists.into())
            }
            // A file system without links.
            Err(_) => std::fs::rename(temporary, path),
        },
    )
}

/// Writes any bytes in the same way: a file that was there is replaced in one
/// step.
pub fn write_bytes(bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    match target(path)? {
        Target::Stream => write_stream(path, bytes),
        Target::File(path) => write_file(
            &path,
            |file| file.write_all(bytes),
            |temporary, path| std::fs::rename(temporary, path),
        ),
    }
}

fn write_stream(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(io(FileAction::Write, path))
}

fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
    put: impl FnOnce(&Path, &Path) -> std::io::Result<()>,
) -> Result<(), StoreError> {
    let (temporary, mut file) = create_temporary(path)?;
    crash::point("document begun");
    let done = fill(&mut file)
        .inspect(|()| crash::point("document filled"))
        .and_then(|()| file.sync_all())
        .inspect(|()| crash::point("document synced"))
        .and_then(|()| put(&temporary, path));
    if let Err(error) = done {
        // The first error is the one to tell; that the remains stay too is
        // the same full or vanished disk.
        let _ = std::fs::remove_file(&temporary);
        return Err(io(FileAction::Write, path)(error));
    }
    sync_directory(directory(path)).map_err(io(FileAction::Write, path))
}
