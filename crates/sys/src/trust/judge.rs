//! Whether a file is of this user or root alone, by its owner and permissions.

use crate::filesystem::user;
use rustix::fs::{Mode, Stat, lstat};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What another user could have done to a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum Why {
    #[error("owned by user {0}: only files of this user or root are used (chown it)")]
    Owner(u32),
    #[error("writable by other users (chmod go-w)")]
    Writable,
    #[error("a link of user {0}, not followed: name its target")]
    Link(u32),
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
pub(crate) fn judge_owner(found: &Stat) -> Result<(), Why> {
    if !is_trusted(found.st_uid) {
        return Err(Why::Owner(found.st_uid));
    }
    if is_writable_by_others(found) { Err(Why::Writable) } else { Ok(()) }
}

/// Whether its permissions let others than its owner write it.
pub(crate) fn is_writable_by_others(found: &Stat) -> bool {
    let mode = Mode::from_raw_mode(found.st_mode);
    mode.contains(Mode::WOTH) || mode.contains(Mode::WGRP) && !is_private_group(found)
}

/// This user, root, and whose the root directory is: in a container that does
/// not map root, root's files show another number.
pub(crate) fn is_trusted(owner: u32) -> bool {
    static OF_ROOT_DIRECTORY: OnceLock<u32> = OnceLock::new();
    let of_root_directory = || lstat("/").map_or(0, |found| found.st_uid);
    [0, user(), *OF_ROOT_DIRECTORY.get_or_init(of_root_directory)].contains(&owner)
}

fn is_private_group(found: &Stat) -> bool {
    let groups = || {
        let mut text = Vec::new();
        let read = File::open("/etc/group").and_then(|f| f.take(1 << 24).read_to_end(&mut text));
        read.map(|_| text).unwrap_or_default()
    };
    found.st_gid != 0
        && found.st_gid == found.st_uid
        && !has_members(&String::from_utf8_lossy(&groups()), found.st_gid)
}

/// Whether a group lists members (group(5)), beyond those who have it as their own.
pub(super) fn has_members(groups: &str, number: u32) -> bool {
    let number = number.to_string();
    groups.lines().any(|line| {
        let mut fields = line.split(':').skip(2);
        fields.next() == Some(&number) && fields.next().is_some_and(|members| !members.is_empty())
    })
}

pub(crate) fn distrust(path: &Path, why: Why) -> Distrust {
    Distrust { path: path.to_owned(), why }
}
