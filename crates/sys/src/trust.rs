//! Checks whether another user could have changed what a path leads to: owners and permissions of the file
//! and of everything on the way to it. `judge.rs` decides for one file. For what decides what runs or who is
//! trusted: configuration, packs, index, tokens, journals.

pub(crate) mod judge;
#[cfg(test)]
mod tests;

pub use judge::{Distrust, Why};

use crate::input::{self, Input};
use crate::place::{self, Rule};
use judge::{distrust, judge_owner};
use rustix::fs::{FileType, Stat, fstat, lstat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// Whether another user can change a file or directory, by its own owner and permissions; of
/// a link, that it is one.
pub fn doubt(path: &Path) -> io::Result<Option<Why>> {
    let found = lstat(path)?;
    Ok(match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => Some(Why::Link(found.st_uid)),
        _ => judge_owner(&found).err(),
    })
}

/// Checks that only this user and root could have put there what a path leads
/// to, or can change it: every directory and link on the way, and what is at its end.
///
/// # Errors
/// What finding it says, and [`Distrust`].
pub fn check_path(path: &Path) -> io::Result<()> {
    if check_name(path)? { Ok(()) } else { Err(Errno::NOENT.into()) }
}

/// The same of a name that there need not be; whether there is.
///
/// # Errors
/// As [`check_path`].
pub fn check_name(path: &Path) -> io::Result<bool> {
    let found = place::walk(path, Rule::Trusted, true)?.found;
    let judged = found.as_ref().map(judge_owner).transpose();
    let there = judged.map_err(|why| distrust(path, why))?;
    Ok(there.is_some())
}

/// Opens a file or pipe that only this user and root could have put there or
/// can change.
///
/// # Errors
/// What opening says, and [`Distrust`].
pub fn open_trusted(path: &Path) -> io::Result<Input> {
    let input = input::open_input(path)?;
    let (Input::File(file) | Input::Pipe(file)) = &input else {
        // Nothing is believed that comes of a device.
        return Ok(input);
    };
    match &input {
        Input::File(_) => check_open(file, path)?,
        // A pipe comes from those who may write it.
        _ => judge_owner(&fstat(file)?).map_err(|why| distrust(path, why))?,
    }
    Ok(input)
}

/// Checks a file that was opened by a path: that only this user and root could have put it there or
/// can change it.
///
/// # Errors
/// What finding it says, and [`Distrust`].
pub fn check_open(file: &File, path: &Path) -> io::Result<()> {
    let opened = fstat(file)?;
    let of = |why| distrust(path, why);
    judge_owner(&opened).map_err(of)?;
    // What has no name comes from this process's parent.
    if opened.st_nlink > 0 {
        let place = place::walk(path, Rule::Trusted, true)?;
        let is_it = |found: &Stat| (found.st_dev, found.st_ino) == (opened.st_dev, opened.st_ino);
        if !place.found.as_ref().is_some_and(is_it) {
            return Err(of(Why::Replaced).into());
        }
    }
    Ok(())
}

/// Reads a short text from where only this user and root could have put it.
///
/// # Errors
/// As [`open_trusted`] and [`input::read_text`].
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    input::decode_text(input::read_open(open_trusted(path)?, limit)?, limit)
}
