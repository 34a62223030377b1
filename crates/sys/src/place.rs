//! The last name of a path in its open directory: what is done by it happens
//! there, whatever other users do meanwhile to names on the way.

use crate::trust::judge::{Why, distrust, is_trusted, judge_owner};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Links that are followed at most, as in the kernel.
const MOST_LINKS: usize = 40;

/// To use a directory and not to list it.
#[cfg(not(target_vendor = "apple"))]
const DIRECTORY: OFlags = OFlags::PATH;
#[cfg(target_vendor = "apple")]
const DIRECTORY: OFlags = OFlags::RDONLY;

/// A name in an open directory.
#[derive(Debug)]
pub struct Place {
    directory: OwnedFd,
    name: OsString,
    /// What had the name; of a descriptor of this process, what it is open on.
    pub(crate) found: Option<Stat>,
    /// It is the name of such a descriptor, in `/proc/PID/fd`.
    is_descriptor: bool,
}

/// What must hold of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// No link of another user is followed.
    OwnLinks,
    /// No other user can change a name on the way.
    Trusted,
}

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file with so many names, and with its mode.
    File {
        /// Hard links.
        names: u64,
        /// Permissions.
        mode: u32,
    },
    /// A directory.
    Directory,
    /// A pipe, a terminal, or another character device.
    Stream,
    /// A symbolic link, a block device or a socket.
    Other,
}

impl Place {
    /// Finds a path's directory and last name. Links are followed, also the last one, but
    /// none that another user could have made.
    ///
    /// # Errors
    /// What opening a directory on the way says; such a link.
    pub fn find(path: &Path) -> io::Result<Place> {
        walk(path, Rule::OwnLinks, true)
    }

    /// The same without following the last name, if that is a link.
    ///
    /// # Errors
    /// As [`Place::find`].
    pub fn entry(path: &Path) -> io::Result<Place> {
        walk(path, Rule::OwnLinks, false)
    }

    /// The last name.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// What has the name now.
    pub fn kind(&self) -> io::Result<Option<FileKind>> {
        let follow = match self.is_descriptor {
            true => AtFlags::empty(),
            false => AtFlags::SYMLINK_NOFOLLOW,
        };
        let found = match statat(&self.directory, &self.name, follow) {
            Err(Errno::NOENT) => return Ok(None),
            found => found?,
        };
        #[allow(clippy::useless_conversion, reason = "narrower on other systems")]
        Ok(Some(match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => FileKind::File {
                names: found.st_nlink.into(),
                mode: Mode::from_raw_mode(found.st_mode).bits().into(),
            },
            FileType::Directory => FileKind::Directory,
            FileType::Fifo | FileType::CharacterDevice => FileKind::Stream,
            _ => FileKind::Other,
        }))
    }

    /// Opens what has the name, without waiting for another program; a link that has it
    /// now is not followed.
    ///
    /// # Errors
    /// What `openat(2)` says; of a pipe, that no program reads it.
    pub fn open(&self, flags: OFlags) -> io::Result<File> {
        let mut flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, !self.is_descriptor);
        match openat(&self.directory, &self.name, flags, ALL_MAY) {
            Err(Errno::NXIO) if flags.intersects(OFlags::WRONLY | OFlags::RDWR) => {
                Err(io::Error::new(io::ErrorKind::BrokenPipe, "no program reads this pipe"))
            }
            Err(Errno::NXIO) => Err(crate::file_kind::not_opened()),
            opened => Ok(opened?.into()),
        }
    }

    /// Makes a new file of another name in the directory, for its owner alone if it is
    /// `private`.
    ///
    /// # Errors
    /// What `openat(2)` says; `AlreadyExists`.
    pub fn create(&self, name: &OsStr, private: bool) -> io::Result<File> {
        let mode = if private { Mode::RUSR | Mode::WUSR } else { ALL_MAY };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(openat(&self.directory, name, flags, mode)?.into())
    }

    /// Gives the file of another name in the directory this name, in the place of what has it.
    pub fn replace_by(&self, name: &OsStr) -> io::Result<()> {
        let directory = &self.directory;
        Ok(rustix::fs::renameat(directory, name, directory, &self.name)?)
    }

    /// Gives the file of another name in the directory this name as well.
    ///
    /// # Errors
    /// What `linkat(2)` says; `AlreadyExists`.
    pub fn link_to(&self, name: &OsStr) -> io::Result<()> {
        let directory = &self.directory;
        let flags = AtFlags::empty();
        Ok(rustix::fs::linkat(directory, name, directory, &self.name, flags)?)
    }

    /// Moves what has this name to another one in the directory.
    pub fn move_to(&self, name: &OsStr) -> io::Result<()> {
        let directory = &self.directory;
        Ok(rustix::fs::renameat(directory, &self.name, directory, name)?)
    }

    /// Removes a name from the directory.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.directory, name, AtFlags::empty())?)
    }

    /// Makes a directory of this name.
    ///
    /// # Errors
    /// What `mkdirat(2)` says; `AlreadyExists`.
    pub fn make_directory(&self) -> io::Result<()> {
        let mode = Mode::RWXU | Mode::RWXG | Mode::RWXO;
        Ok(rustix::fs::mkdirat(&self.directory, &self.name, mode)?)
    }

    /// Has the names of the directory survive a power cut.
    ///
    /// # Errors
    /// What opening and `fsync(2)` say.
    pub fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(&self.directory, ".", flags, Mode::empty())?;
        Ok(rustix::fs::fsync(directory)?)
    }
}

/// What the umask leaves of it.
const ALL_MAY: Mode = Mode::from_bits_retain(0o666);

/// Opens a file for writing, emptied or new, for a program that inherits it; also whether it
/// is a regular file. The path's links are followed as by [`Place::find`].
///
/// # Errors
/// What opening says; of a pipe, that no program reads it.
pub fn create(path: &Path) -> io::Result<(File, bool)> {
    let place = Place::find(path)?;
    let mut flags = OFlags::WRONLY | OFlags::TRUNC;
    // The kernel may refuse it for another user's file (`fs.protected_regular`).
    flags.set(OFlags::CREATE, place.found.is_none());
    let file = place.open(flags)?;
    wait_in_reads(&file)?;
    let is_file = file.metadata()?.is_file();
    Ok((file, is_file))
}

/// Opens a regular file for reading; the path's links are followed as by [`Place::find`].
///
/// # Errors
/// What opening says; a pipe, a directory, a device.
pub fn open_file(path: &Path) -> io::Result<File> {
    let file = Place::find(path)?.open(OFlags::RDONLY)?;
    crate::input::check_kind(file.metadata()?.file_type())?;
    Ok(file)
}

/// Goes along a path as the kernel does, and checks every step; with `follow`, also the last one.
pub(crate) fn walk(path: &Path, rule: Rule, follow: bool) -> io::Result<Place> {
    let mut at = PathBuf::from("/");
    let mut directory = open_directory(rustix::fs::CWD, at.as_os_str())?;
    let mut left = path_names(&std::path::absolute(path)?);
    let mut links = 0;
    loop {
        let here = fstat(&directory)?;
        rule.admit_directory(&here, &at)?;
        let Some(name) = left.pop() else {
            return Ok(Place {
                directory,
                name: ".".into(),
                found: Some(here),
                is_descriptor: false,
            });
        };
        let place =
            |directory, name, found, is_descriptor| Place { directory, name, found, is_descriptor };
        let found = match statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) if left.is_empty() => {
                return Ok(place(directory, name, None, false));
            }
            found => found?,
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink if follow || !left.is_empty() => {
                let target = readlinkat(&directory, &name, Vec::new())?;
                let target = Path::new(OsStr::from_bytes(target.to_bytes()));
                if left.is_empty() && is_descriptor(&at, target) {
                    let found = statat(&directory, &name, AtFlags::empty())?;
                    return Ok(place(directory, name, Some(found), true));
                }
                rule.admit_link(&found, &here, &at.join(&name))?;
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP.into());
                }
                if target.is_absolute() {
                    at = PathBuf::from("/");
                    directory = open_directory(rustix::fs::CWD, at.as_os_str())?;
                }
                left.extend(path_names(target));
            }
            _ if left.is_empty() => return Ok(place(directory, name, Some(found), false)),
            _ => {
                directory = open_directory(&directory, &name)?;
                at.push(&name);
            }
        }
    }
}

impl Rule {
    fn admit_directory(self, found: &Stat, path: &Path) -> io::Result<()> {
        if self == Rule::OwnLinks {
            return Ok(());
        }
        match judge_owner(found) {
            // Only the owners of the names in it may change them.
            Err(Why::Writable) if Mode::from_raw_mode(found.st_mode).contains(Mode::SVTX) => Ok(()),
            judged => Ok(judged.map_err(|why| distrust(path, why))?),
        }
    }

    fn admit_link(self, found: &Stat, directory: &Stat, path: &Path) -> io::Result<()> {
        match judge_owner(directory).is_ok() || is_trusted(found.st_uid) {
            true => Ok(()),
            false => Err(distrust(path, Why::Link(found.st_uid)).into()),
        }
    }
}

/// Whether a link names a descriptor that has no other name: `pipe:[1]`, `/memfd:a (deleted)`.
fn is_descriptor(at: &Path, target: &Path) -> bool {
    let is_gone = || target.as_os_str().as_bytes().ends_with(b" (deleted)");
    at.starts_with("/proc") && at.ends_with("fd") && (target.is_relative() || is_gone())
}

fn open_directory(from: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = DIRECTORY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(from, name, flags, Mode::empty())?)
}

/// The names of a path, the first one last.
fn path_names(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    let mut names: Vec<OsString> = names.collect();
    names.reverse();
    names
}

/// Has reads of this descriptor wait again, for a program that inherits it.
pub fn wait_in_reads(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)? - OFlags::NONBLOCK;
    Ok(rustix::fs::fcntl_setfl(file, flags)?)
}

#[cfg(test)]
mod tests;
