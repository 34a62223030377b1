//! A directory for the files of one work, in the run's scratch directory.

use meter::bench::Bench;
use meter::scratch::reason;
use model::filesystem::{DeviceKind, Filesystem};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The directory. It goes, with all in it, when its work does, unless it stays.
#[derive(Debug)]
pub(crate) struct OwnDirectory {
    path: PathBuf,
    stays: bool,
    /// What the file system did not grant, if a row must say so.
    pub(crate) note: Option<String>,
}

impl OwnDirectory {
    /// A new one. What a work of this name left, whose worker was killed, goes
    /// first: workers take turns, so nobody is in it.
    pub(crate) fn make(bench: &Bench, name: &str) -> Result<OwnDirectory, String> {
        let scratch = crate::file::scratch(bench)?;
        let path = scratch.join(name);
        let made = match std::fs::remove_dir_all(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => DirBuilder::new().mode(0o700).create(&path),
        };
        match made {
            Ok(()) => Ok(OwnDirectory {
                path,
                stays: false,
                note: None,
            }),
            Err(e) => Err(reason(&e, &format!("making {name}"), scratch)),
        }
    }

    /// One that stays, with all in it, until the run ends: a new one below
    /// `name` each time, and in a part of the disk where nothing was deleted,
    /// if the file system can be asked for that.
    pub(crate) fn that_stays(bench: &mut Bench, name: &str) -> Result<OwnDirectory, String> {
        let number = bench.rng.u64(..);
        let place = bench.scratch()?;
        let scratch = place.directory.as_path();
        let common = scratch.join(name);
        let make = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        let made = match make(&common) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        };
        let spread = sys::filesystem::spread_directories(&common);
        let note = spread.err().and_then(|e| not_apart(&place.filesystem, &e));
        // Workers may draw the same number; none has another's process id.
        let path = common.join(format!("{}-{number:016x}", std::process::id()));
        match made.and_then(|()| make(&path)) {
            Ok(()) => Ok(OwnDirectory {
                path,
                stays: true,
                note,
            }),
            Err(e) => Err(reason(&e, &format!("making {name}"), scratch)),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A name in it.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Why something failed in it, as a row's reason.
    pub(crate) fn failed(&self, doing: &str, error: &io::Error) -> String {
        reason(error, doing, &self.path)
    }
}

/// What it means that directories can't be placed apart: on an ext file system,
/// or one that layers may hide, creations may pay for deletions. Others have no
/// such search.
fn not_apart(filesystem: &Filesystem, refused: &io::Error) -> Option<String> {
    let may_search = filesystem.kind.starts_with("ext") || filesystem.device == DeviceKind::Overlay;
    may_search.then(|| {
        format!(
            "directories not placed apart ({refused}): on ext4 without a journal a creation may pay for deletions of other rows"
        )
    })
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // The scratch directory goes at the end of the run whatever is in it.
        if !self.stays {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_is_refused_is_noted_where_it_matters() {
        let on = |kind: &str, device| {
            let filesystem = Filesystem {
                directory: "/x".into(),
                kind: kind.into(),
                source: String::new(),
                device,
                mount_options: String::new(),
            };
            not_apart(&filesystem, &io::ErrorKind::PermissionDenied.into())
        };
        let note = on("ext4", DeviceKind::Virtio).expect("it has such a search");
        assert!(note.contains("(permission denied)"), "{note}");
        assert!(on("overlay", DeviceKind::Overlay).is_some());
        assert_eq!(on("tmpfs", DeviceKind::Memory), None);
        assert_eq!(on("xfs", DeviceKind::Nvme), None);
    }

    #[test]
    fn every_visit_says_so() {
        let (_dir, terrain) = crate::smoke::with_files();
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let notes = [(); 2]
            .map(|()| OwnDirectory::that_stays(&mut bench, "made").map(|own| own.note.clone()));
        let place = bench.scratch().expect("one was made");
        let spread = sys::filesystem::spread_directories(&place.directory.join("made"));
        let expected = spread.err().and_then(|e| not_apart(&place.filesystem, &e));
        assert_eq!(notes, [Ok(expected.clone()), Ok(expected)]);
    }
}
