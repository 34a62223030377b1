//! Which directory files are put in: the one that is named, or one on a disk.

use super::dir::ScratchDir;
use super::error::{ScratchError, Unusable};
use model::filesystem::{DeviceKind, Filesystem};
use model::user_dir::UserDir;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The directory that a user names. It may be on any file system, memory
/// included.
pub fn scratch_in(directory: &Path) -> Result<ScratchDir, ScratchError> {
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    match usable(&directory).and_then(|found| takes_files(&directory).map(|()| found)) {
        Ok(filesystem) => Ok(ScratchDir::new(directory, filesystem, true)),
        Err(why) => Err(ScratchError::Named { directory, why }),
    }
}

/// The directory that is used when none is named: the user's cache directory
/// if that is on a disk, else /var/tmp if that is.
pub fn by_default() -> Result<ScratchDir, ScratchError> {
    by_default_of(&candidates(|name| std::env::var_os(name)), |directory| {
        usable(nearest(directory))
    })
}

fn by_default_of(
    candidates: &[PathBuf],
    look: impl Fn(&Path) -> Result<Filesystem, Unusable>,
) -> Result<ScratchDir, ScratchError> {
    let mut refused = Vec::new();
    for directory in candidates {
        let found = look(directory).and_then(|filesystem| {
            on_disk(&filesystem)?;
            Ok(filesystem)
        });
        match found {
            Ok(filesystem) => {
                return Ok(ScratchDir::new(directory.clone(), filesystem, false));
            }
            Err(why) => refused.push((directory.clone(), why)),
        }
    }
    Err(ScratchError::NoDefault(refused))
}

/// Directories that may be chosen by themselves, the best first.
fn candidates(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let cache = UserDir::Cache.resolve(variable);
    cache.into_iter().chain(["/var/tmp".into()]).collect()
}

/// Why a file system is not taken without having been named, if it is not.
fn on_disk(filesystem: &Filesystem) -> Result<(), Unusable> {
    let kind = filesystem.kind.clone();
    match filesystem.device {
        DeviceKind::Memory => Err(Unusable::Memory(kind)),
        DeviceKind::Network => Err(Unusable::Network(kind)),
        DeviceKind::Overlay => Err(Unusable::Hidden(kind)),
        _ => Ok(()),
    }
}

/// The directory itself, or what is there nearest above it: below that it
/// will be made. That may be no directory, and a link to nowhere counts too:
/// both stand in its way.
pub(crate) fn nearest(directory: &Path) -> &Path {
    directory.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(directory)
}

/// Whether a file can be made: in /proc and /sys, which root may write, none can. On a full disk
/// some rows can be measured.
fn takes_files(directory: &Path) -> Result<(), Unusable> {
    match tempfile::tempfile_in(directory).map_err(|error| error.kind()) {
        Ok(_) | Err(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => Ok(()),
        Err(_) => Err(Unusable::NoFiles),
    }
}

/// The file system of a directory that files can be made in.
fn usable(directory: &Path) -> Result<Filesystem, Unusable> {
    sys::filesystem::may_write(directory)?;
    Ok(sys::filesystem::filesystem_facts(directory)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn where_no_file_can_be_made_none_is_put() {
        // An ordinary user may not write there.
        let refused = [Unusable::NoFiles, Unusable::NoPermission];
        match scratch_in(Path::new("/proc")) {
            Err(ScratchError::Named { why, .. }) => assert!(refused.contains(&why), "{why:?}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_default_is_never_memory() {
        let filesystem = |device| Filesystem {
            directory: "/".into(),
            kind: "somefs".into(),
            source: String::new(),
            device,
            mount_options: String::new(),
        };
        let candidates: Vec<PathBuf> = vec!["/home/x/.cache/latlas".into(), "/var/tmp".into()];
        for (home, expected) in [
            (DeviceKind::Nvme, "/home/x/.cache/latlas"),
            (DeviceKind::Unknown, "/home/x/.cache/latlas"),
            (DeviceKind::Memory, "/var/tmp"),
            (DeviceKind::Network, "/var/tmp"),
            (DeviceKind::Overlay, "/var/tmp"),
        ] {
            let look = |path: &Path| {
                let at_home = path.starts_with("/home");
                Ok(filesystem(if at_home { home } else { DeviceKind::SolidState }))
            };
            let place = by_default_of(&candidates, look).expect("one of them");
            assert_eq!(place.directory, Path::new(expected), "{home:?}");
            assert!(!place.named);
        }
        let none = by_default_of(&candidates, |path| match path.starts_with("/home") {
            true => Ok(filesystem(DeviceKind::Memory)),
            false => Err(Unusable::NoPermission),
        });
        assert_eq!(
            none.expect_err("neither").to_string(),
            "no directory on a disk (/home/x/.cache/latlas: somefs is memory; /var/tmp: no \
             permission to write there); name a directory with --dir"
        );
    }

    #[test]
    fn what_stands_in_the_way_is_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let dir = dir.path();
        assert_eq!(nearest(dir), dir);
        assert_eq!(nearest(&dir.join("a/b")), dir);
        std::fs::write(dir.join("file"), "").expect("written");
        assert_eq!(nearest(&dir.join("file/b")), dir.join("file"));
        std::os::unix::fs::symlink("/none/such", dir.join("link")).expect("a link");
        assert_eq!(nearest(&dir.join("link/b")), dir.join("link"));
    }

    #[test]
    fn the_cache_directory_is_the_users() {
        let of = |variables: &'static [(&str, &str)]| {
            candidates(move |name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.into())
            })
        };
        let both = of(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]);
        assert_eq!(both, [Path::new("/c/latlas"), Path::new("/var/tmp")]);
        let relative = of(&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")]);
        assert!(relative[0].starts_with("/h") && relative[0].ends_with("latlas"));
        assert_eq!(of(&[]), [Path::new("/var/tmp")]);
    }
}
