//! Files that the user names for results. A file that is there keeps what it has besides its
//! content, or is not replaced.

use super::check::{check_room, room_of};
use super::{compressed, is_packed_name, stream, write_file};
use crate::error::{FileAction, io};
use crate::{StoreError, document};
use model::run::Run;
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use sys::attributes;
use sys::place::{FileKind, Place};

/// A file for a result, found before measuring and written after it.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// A pipe or a device, which a rename would replace by a file. It stays open, so that
    /// the reader of a pipe sees no end before the result.
    Stream(File),
    /// A file or a new name, links followed: a rename would replace the link itself.
    File(Place),
}

impl Output {
    /// Finds out whether a run could be written: a typo must not cost a minute. Leaves
    /// nothing behind.
    pub fn open(path: &Path) -> Result<Output, StoreError> {
        let output = Output::at(path)?;
        if let Target::File(place) = &output.target {
            let existing = existing(place, path)?;
            check_room(place, path, existing.as_ref(), room_of(path))?;
        }
        Ok(output)
    }

    /// The same without a try.
    pub(super) fn at(path: &Path) -> Result<Output, StoreError> {
        if path.file_name().is_none() {
            return Err(refused(path, "that is not the name of a file"));
        }
        let place = Place::find(path).map_err(io(FileAction::Write, path))?;
        let target = match place.kind().map_err(io(FileAction::Write, path))? {
            Some(FileKind::Stream) => {
                let opened = place.open(OFlags::WRONLY);
                Target::Stream(opened.map_err(io(FileAction::Write, path))?)
            }
            _ => {
                existing(&place, path)?;
                Target::File(place)
            }
        };
        Ok(Output { path: path.to_owned(), target })
    }

    /// Writes bytes: a file has all of them afterwards, or what it had.
    ///
    /// # Errors
    /// If they can't be written; if the file there would lose its owner, its permissions, its
    /// extended attributes or another name.
    pub fn write(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let path = &self.path;
        let place = match &self.target {
            Target::Stream(file) => {
                return stream::write_all_bytes(file, bytes).map_err(io(FileAction::Write, path));
            }
            Target::File(place) => place,
        };
        let existing = existing(place, path)?;
        let fill = |file: &mut File| {
            file.write_all(bytes)?;
            existing.as_ref().map_or(Ok(()), |existing| attributes::copy(existing, file))
        };
        let put = |temporary: &OsStr| place.replace_by(temporary);
        write_file(place, path, existing.is_some(), fill, put)
    }

    /// Writes JSON: compressed where the name ends in `.zst`.
    pub fn write_json(&self, json: &[u8]) -> Result<(), StoreError> {
        match is_packed_name(&self.path) {
            true => self.write(&compressed(json)?),
            false => self.write(&[json, b"\n"].concat()),
        }
    }

    /// Writes a run as JSON.
    pub fn write_run(&self, run: &Run) -> Result<(), StoreError> {
        self.write_json(&document::to_json(run)?)
    }
}

/// The file that has the name, open for writing; `None` if there is none.
fn existing(place: &Place, path: &Path) -> Result<Option<File>, StoreError> {
    match place.kind().map_err(io(FileAction::Write, path))? {
        None => Ok(None),
        Some(FileKind::File { mode, .. }) if mode & 0o222 == 0 => {
            Err(refused(path, "the file there is read-only"))
        }
        Some(FileKind::File { names: 2.., .. }) => Err(refused(
            path,
            "the file there has several names (hard links), and the others would keep the old \
             content: remove it, or choose another file",
        )),
        Some(FileKind::File { .. }) => {
            let opened = place.open(OFlags::WRONLY);
            opened.map(Some).map_err(io(FileAction::Write, path))
        }
        Some(FileKind::Directory) => Err(refused(path, "it is a directory")),
        Some(FileKind::Stream | FileKind::Other) => Err(refused(path, "it is not a file")),
    }
}

fn refused(path: &Path, reason: &'static str) -> StoreError {
    StoreError::NotAFile { path: path.to_owned(), reason }
}
