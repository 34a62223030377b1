//! What a file has besides its content: owner, permissions, extended attributes
//! (access control lists and capabilities are such).

use rustix::fs::{Gid, Mode, Uid, XattrFlags};
use rustix::fs::{fchmod, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr, fstat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;

/// Gives one file the owner, extended attributes and permissions of another.
pub fn copy(from: &File, to: &File) -> io::Result<()> {
    let (found, own) = (fstat(from)?, fstat(to)?);
    if (found.st_uid, found.st_gid) != (own.st_uid, own.st_gid) {
        let (user, group) = (Uid::from_raw(found.st_uid), Gid::from_raw(found.st_gid));
        let text = || format!("its owner {}:{}", found.st_uid, found.st_gid);
        fchown(to, Some(user), Some(group)).map_err(|why| lost(&text(), why))?;
    }
    let wanted = attribute_names(from)?;
    for name in &wanted {
        let value = attribute_value(from, name)?;
        if self::attribute_value(to, name).ok().as_ref() != Some(&value) {
            let set = fsetxattr(to, name.as_c_str(), &value, XattrFlags::empty());
            set.map_err(|why| lost(&attribute_text(name), why))?;
        }
    }
    // The directory may have given it some.
    for name in attribute_names(to)?.iter().filter(|name| !wanted.contains(name)) {
        fremovexattr(to, name.as_c_str()).map_err(|why| lost(&attribute_text(name), why))?;
    }
    let mode = Mode::from_raw_mode(found.st_mode);
    fchmod(to, mode).map_err(|why| lost("its mode", why))
}

fn lost(what: &str, why: Errno) -> io::Error {
    let why = io::Error::from(why);
    io::Error::new(why.kind(), format!("{what} can't be kept: {why}"))
}

fn attribute_text(name: &CStr) -> String {
    format!("its attribute {}", name.to_string_lossy())
}

/// Names of the extended attributes; none on a file system without.
fn attribute_names(of: &File) -> io::Result<Vec<CString>> {
    let mut all = match sized(|room| flistxattr(of, room)) {
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        listed => listed.map_err(|why| lost("its attributes", why))?,
    };
    // Each ends with a zero.
    all.pop();
    let names = all.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.filter_map(|name| CString::new(name).ok()).collect())
}

fn attribute_value(of: &File, name: &CStr) -> io::Result<Vec<u8>> {
    sized(|room| fgetxattr(of, name, room)).map_err(|why| lost(&attribute_text(name), why))
}

/// What a call writes into a buffer. Linux allows no more (xattr(7)).
fn sized(call: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut room = vec![0; 1 << 16];
    let written = call(&mut room)?;
    room.truncate(written);
    Ok(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_is_copied_and_what_was_there_goes() {
        let dir = tempfile::tempdir().expect("a directory");
        let [from, to] = ["from", "to"].map(|name| {
            let path = dir.path().join(name);
            File::options().read(true).write(true).create_new(true).open(path)
        });
        let (from, to) = (from.expect("made"), to.expect("made"));
        fchmod(&from, Mode::from_raw_mode(0o640)).expect("a mode");
        let root = fchown(&from, Some(Uid::from_raw(65_534)), Some(Gid::from_raw(65_533)));
        let set =
            |file: &File, name: &CStr| fsetxattr(file, name, b"value", XattrFlags::empty()).is_ok();
        let has_attributes = set(&from, c"user.one") && set(&to, c"user.other");
        copy(&from, &to).expect("copied");
        let [found, given] = [&from, &to].map(|file| fstat(file).expect("asked"));
        assert_eq!(found.st_mode, given.st_mode);
        assert_eq!((found.st_uid, found.st_gid), (given.st_uid, given.st_gid));
        assert_eq!(root.is_ok(), given.st_gid == 65_533);
        if !has_attributes {
            return println!("SKIPPED: no extended attributes here");
        }
        assert_eq!(attribute_value(&to, c"user.one").expect("there"), b"value");
        assert!(!attribute_names(&to).expect("listed").contains(&c"user.other".to_owned()));
    }
}
