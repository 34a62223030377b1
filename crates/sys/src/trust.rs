//! Who could have changed what a path leads to: owners and permissions along it.

use crate::filesystem::user;
use crate::input::{self, Input};
use crate::place::{self, Rule};
use rustix::fs::{FileType, Mode, Stat, fstat, lstat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What another user could have done to a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It is another user's.
    #[error("owned by user {0}: only files of this user or root are used (chown it)")]
    Owner(u32),
    /// Others may change it.
    #[error("writable by other users (chmod go-w)")]
    Writable,
    /// It leads where another user chose.
    #[error("a link of user {0}, not followed: name its target")]
    Link(u32),
    /// Its name leads to another file than the one that was opened.
    #[error("not the file that was opened: another one has its name now")]
    Replaced,
}

/// Why a path is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is {why}", path.display())]
pub struct Distrust {
    /// The file, or the directory or link on the way to it.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: Why,
}

impl From<Distrust> for io::Error {
    fn from(distrust: Distrust) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, distrust)
    }
}

/// That only this user and root can change what is found: the owner, and the
/// permissions of others. A group that has no member but its user is no other.
pub(crate) fn judge(found: &Stat) -> Result<(), Why> {
    let mode = Mode::from_raw_mode(found.st_mode);
    if !is_trusted(found.st_uid) {
        return Err(Why::Owner(found.st_uid));
    }
    let by_group = || mode.contains(Mode::WGRP) && !is_private_group(found);
    match mode.contains(Mode::WOTH) || by_group() {
        true => Err(Why::Writable),
        false => Ok(()),
    }
}

/// This user, root, and whose the root directory is: in a container that does
/// not map root, root's files show another number.
pub(crate) fn is_trusted(owner: u32) -> bool {
    static OF_ROOT_DIRECTORY: OnceLock<u32> = OnceLock::new();
    let of_root_directory = || lstat("/").map_or(0, |found| found.st_uid);
    [0, user(), *OF_ROOT_DIRECTORY.get_or_init(of_root_directory)].contains(&owner)
}

fn is_private_group(found: &Stat) -> bool {
    let groups = || input::read_file(Path::new("/etc/group"), 1 << 24).unwrap_or_default();
    found.st_gid != 0
        && found.st_gid == found.st_uid
        && !has_members(&String::from_utf8_lossy(&groups()), found.st_gid)
}

/// Whether a group lists members (group(5)), beyond those who have it as their own.
fn has_members(groups: &str, number: u32) -> bool {
    let number = number.to_string();
    groups.lines().any(|line| {
        let mut fields = line.split(':').skip(2);
        fields.next() == Some(&number) && fields.next().is_some_and(|members| !members.is_empty())
    })
}

/// Whether another user can change a file or directory, by its own owner and permissions; of
/// a link, that it is one.
///
/// # Errors
/// What finding it says.
pub fn doubt(path: &Path) -> io::Result<Option<Why>> {
    let found = lstat(path)?;
    Ok(match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => Some(Why::Link(found.st_uid)),
        _ => judge(&found).err(),
    })
}

/// Checks that only this user and root could have put there what a path leads
/// to, or can change it: every directory and link on the way, and what is at its end.
///
/// # Errors
/// What finding it says, and [`Distrust`].
pub fn check(path: &Path) -> io::Result<()> {
    match check_name(path)? {
        true => Ok(()),
        false => Err(Errno::NOENT.into()),
    }
}

/// The same of a name that there need not be; whether there is.
///
/// # Errors
/// As [`check`].
pub fn check_name(path: &Path) -> io::Result<bool> {
    let found = place::walk(path, Rule::Trusted, true)?.found;
    let judged = found.as_ref().map(judge).transpose();
    let there = judged.map_err(|why| of(path, why))?;
    Ok(there.is_some())
}

/// Opens a file or pipe that only this user and root could have put there or
/// can change.
///
/// # Errors
/// What opening says, and [`Distrust`].
pub fn open(path: &Path) -> io::Result<Input> {
    let input = input::open(path)?;
    let (Input::File(file) | Input::Pipe(file)) = &input else {
        // Nothing is believed that comes of a device.
        return Ok(input);
    };
    match &input {
        Input::File(_) => check_open(file, path)?,
        // A pipe comes from those who may write it.
        _ => judge(&fstat(file)?).map_err(|why| of(path, why))?,
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
    let of = |why| of(path, why);
    judge(&opened).map_err(of)?;
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
/// As [`open`] and [`input::read_text`].
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    input::text(input::read_open(open(path)?, limit)?, limit)
}

pub(crate) fn of(path: &Path, why: Why) -> Distrust {
    Distrust { path: path.to_owned(), why }
}

#[cfg(test)]
mod tests;
