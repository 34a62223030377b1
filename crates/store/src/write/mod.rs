//! Writes files so that either the whole file is there afterwards, or nothing: a temporary name
//! (`temporary.rs`), sync, link, sync of the directory (`directory.rs`). `output.rs`: files that the user
//! names; `stream.rs`: pipes and devices; `check.rs`: whether a run could be written, before it is measured.

mod check;
mod directory;
mod output;
mod stream;
mod temporary;
#[cfg(test)]
mod tests;

pub(super) use check::check_keepable;
pub(super) use directory::{directory, make_directory, remove};
pub use output::Output;
pub(super) use temporary::{is_left_over, temporary_name};

use super::{StoreError, document, io};
use crate::crash;
use crate::error::FileAction;
use directory::sync;
use model::run::Run;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use sys::place::Place;
use temporary::create_temporary;

/// zstd's own default: stronger levels save a few percent and cost seconds.
const COMPRESSION_LEVEL: i32 = 3;

/// Writes a run: compressed where the name ends in `.zst`, else plain JSON.
/// A file that was there is replaced in one step.
pub fn write_run(run: &Run, path: &Path) -> Result<(), StoreError> {
    Output::at(path)?.write_run(run)
}

/// Writes any bytes in the same way.
pub fn write_bytes(bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    Output::at(path)?.write(bytes)
}

/// A run's document, compressed.
pub fn packed(run: &Run) -> Result<Vec<u8>, StoreError> {
    compressed(&document::to_json(run)?)
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    zstd::bulk::compress(bytes, COMPRESSION_LEVEL)
        .map_err(|e| StoreError::Unwritable(e.to_string()))
}

/// Writes a file that must not be there yet, whole or not at all. Of several
/// that write the same name at once, one does and the others get
/// `AlreadyExists`: a rename would replace, a link does not.
pub(super) fn write_new(bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    let place = entry(path)?;
    let put = |temporary: &OsStr| match place.link_to(temporary) {
        Ok(()) => {
            crash::point("document linked");
            // Whole and in its place: a second name of it does no harm.
            let _ = place.remove(temporary);
            Ok(())
        }
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(e),
        Err(_) if place.kind()?.is_some() => Err(ErrorKind::AlreadyExists.into()),
        // A file system without links.
        Err(_) => place.replace_by(temporary),
    };
    write_file(&place, path, false, |file| file.write_all(bytes), put)
}

/// Writes a file of latlas's own, as new: what was there is replaced in one step.
pub fn replace(bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    let place = Place::find(path).map_err(io(FileAction::Write, path))?;
    let put = |temporary: &OsStr| place.replace_by(temporary);
    write_file(&place, path, false, |file| file.write_all(bytes), put)
}

/// A name in its directory, whether or not it is a link.
pub(super) fn entry(path: &Path) -> Result<Place, StoreError> {
    Place::entry(path).map_err(io(FileAction::Write, path))
}

fn write_file(
    place: &Place,
    path: &Path,
    private: bool,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
    put: impl FnOnce(&OsStr) -> std::io::Result<()>,
) -> Result<(), StoreError> {
    let (temporary, mut file) = create_temporary(place, path, private)?;
    crash::point("document begun");
    let done = fill(&mut file)
        .inspect(|()| crash::point("document filled"))
        .and_then(|()| file.sync_all())
        .inspect(|()| crash::point("document synced"))
        .and_then(|()| put(&temporary));
    if let Err(error) = done {
        // The first error is the one to tell; that the remains stay too is
        // the same full or vanished disk.
        let _ = place.remove(&temporary);
        return Err(io(FileAction::Write, path)(error));
    }
    sync(place).map_err(io(FileAction::Write, path))
}

/// Whether what is written there is compressed.
fn is_packed_name(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("zst"))
}
