//! Files of a run's scratch directory: directories of one work, files that all
//! workers read, and files without a name.

use super::reason::{Doing, Reason};
use meter::probe::{OnDisk, WorkError};
use meter::scratch::ScratchError;
use meter::worker_memory::WorkerMemory;
use model::filesystem::{DeviceKind, Filesystem};
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::file_mapping::FileMapping;

pub(crate) fn scratch(worker: &WorkerMemory) -> Result<&Path, WorkError> {
    Ok(&worker.scratch()?.directory)
}

/// What files are on, for the notes of a row.
pub(crate) fn filesystem_note(worker: &WorkerMemory) -> Option<String> {
    let scratch = worker.scratch().ok()?;
    Some(format!("file system: {}", scratch.filesystem.one_line()))
}

/// What writing so much to a disk, and syncing it, takes in a plan: 200 MB/s.
pub(crate) fn writing(bytes: u64) -> Duration {
    Duration::from_nanos(bytes.saturating_mul(5))
}

/// Room for files that go at the end of each visit: one visit's at a time.
pub(crate) fn for_a_visit(bytes: u64, files: u64) -> OnDisk {
    OnDisk { shared: "the files of a batch".into(), bytes, files, ..OnDisk::default() }
}

/// Room for a mapped file without a name; without it, the file goes elsewhere.
pub(crate) fn for_nameless(bytes: usize) -> OnDisk {
    OnDisk { optional: true, ..for_a_visit(bytes as u64, 1) }
}

/// A mapped file without a name, and a note that says what it is on: the run's
/// directory, or where that can't be the one for temporary files.
pub(crate) fn nameless(
    worker: &WorkerMemory,
    bytes: usize,
) -> Result<(FileMapping, String), Reason> {
    let temporary = std::env::temp_dir();
    let mut refused = Vec::new();
    for directory in scratch(worker).into_iter().chain([temporary.as_path()]) {
        match FileMapping::create(directory, bytes) {
            Ok(mapping) => {
                let filesystem = match worker.scratch() {
                    Ok(scratch) if scratch.directory == directory => scratch.filesystem.one_line(),
                    _ => sys::filesystem::filesystem_facts(directory)
                        .map_or_else(|_| "unknown".into(), |facts| facts.one_line()),
                };
                return Ok((mapping, format!("file system: {filesystem}")));
            }
            Err(e) => refused.push(format!("{}: {e}", directory.display())),
        }
    }
    let refused = refused.join(", nor in ");
    Err(Reason::missing(format!("no file can be mapped in {refused}")))
}

/// A directory for the files of one work. It goes, with all in it, when its
/// work does, unless it stays.
#[derive(Debug)]
pub(crate) struct OwnDirectory {
    path: PathBuf,
    stays: bool,
    /// What the file system did not grant, if a row must say so.
    pub(crate) note: Option<String>,
}

impl OwnDirectory {
    /// A new one. What a work of this name left, whose worker was killed, goes
    /// first: workers run one at a time, so no other is in it.
    pub(crate) fn make(worker: &WorkerMemory, name: &str) -> Result<OwnDirectory, WorkError> {
        let scratch = scratch(worker)?;
        let path = scratch.join(name);
        let made = match std::fs::remove_dir_all(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
            _ => private(&path),
        };
        made.map_err(|e| ScratchError::file(&e, &format!("making {name}"), scratch))?;
        Ok(OwnDirectory { path, stays: false, note: None })
    }

    /// One that stays, with all in it, until the run ends: a new one below
    /// `name` each time, and in a part of the disk where nothing was deleted,
    /// if the file system can be asked for that.
    pub(crate) fn that_stays(
        worker: &mut WorkerMemory,
        name: &str,
    ) -> Result<OwnDirectory, WorkError> {
        let number = worker.rng.u64(..);
        let scratch = worker.scratch()?;
        let common = scratch.directory.join(name);
        let made = match private(&common) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made,
        };
        let spread = sys::filesystem::spread_directories(&common).err();
        let note = spread.and_then(|e| not_apart(&scratch.filesystem, &e));
        // Workers may draw the same number; none has another's process id.
        let path = common.join(format!("{}-{number:016x}", std::process::id()));
        made.and_then(|()| private(&path))
            .map_err(|e| ScratchError::file(&e, &format!("making {name}"), &scratch.directory))?;
        Ok(OwnDirectory { path, stays: true, note })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Why something failed in it, as a row's reason.
    pub(crate) fn failed(&self, doing: &str, error: &io::Error) -> WorkError {
        ScratchError::file(error, doing, &self.path).into()
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // The scratch directory goes at the end of the run whatever is in it.
        if !self.stays {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
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

/// The file of this path and length, opened by `open`; if it is not there,
/// `fill` makes it first, and syncs it. `reason` puts an error into words, with
/// what was being done.
///
/// It is filled under another name: a worker that is killed while it does
/// leaves no half file to the others.
pub(crate) fn open_or_make(
    path: &Path,
    bytes: u64,
    open: impl Fn(&Path) -> io::Result<File>,
    fill: impl FnOnce(&Path) -> io::Result<()>,
    reason: impl Fn(&io::Error, &str) -> String,
) -> Result<File, Reason> {
    let refused = |e: &io::Error, doing: &str| Reason::missing(reason(e, doing));
    let file = match open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            make_whole(path, fill).map_err(|e| refused(&e, "making"))?;
            open(path)
        }
        opened => opened,
    };
    let file = file.map_err(|e| refused(&e, "opening"))?;
    let actual = file.metadata().map_err(|e| refused(&e, "opening"))?.len();
    if actual != bytes {
        return Err(Reason::wrong(format!(
            "{} has {actual} bytes instead of {bytes}: another program wrote to it",
            path.display()
        )));
    }
    Ok(file)
}

fn make_whole(path: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    let done = remove(&unfinished)
        .and_then(|()| fill(&unfinished))
        .and_then(|()| std::fs::rename(&unfinished, path));
    if done.is_err() {
        // Other rows need its room.
        let _ = remove(&unfinished);
    }
    done
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// A second descriptor of a file.
pub(crate) fn second(file: &File) -> Result<File, Reason> {
    file.try_clone().doing("can't duplicate the file's descriptor")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{small_machine, worker_with_files};
    use std::fs::read_dir;

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
            not_apart(&filesystem, &ErrorKind::PermissionDenied.into())
        };
        let note = on("ext4", DeviceKind::Virtio).expect("it has such a search");
        assert!(note.contains("(permission denied)"), "{note}");
        assert!(on("overlay", DeviceKind::Overlay).is_some());
        assert_eq!(on("tmpfs", DeviceKind::Memory), None);
        assert_eq!(on("xfs", DeviceKind::Nvme), None);
        // Every visit says so.
        let (_dir, mut worker) = worker_with_files();
        let notes = [(); 2]
            .map(|()| OwnDirectory::that_stays(&mut worker, "made").map(|own| own.note.clone()));
        let scratch = worker.scratch().expect("one was made");
        let spread = sys::filesystem::spread_directories(&scratch.directory.join("made"));
        let expected = spread.err().and_then(|e| not_apart(&scratch.filesystem, &e));
        assert_eq!(notes, [Ok(expected.clone()), Ok(expected)]);
    }

    #[test]
    fn a_file_without_a_name_is_where_the_others_are_if_it_can_be() {
        // On another file system than temporary files, where there is one.
        let shared = tempfile::tempdir_in("/dev/shm");
        let dir = shared.or_else(|_| tempfile::tempdir()).expect("a directory");
        let mut machine = small_machine();
        machine.scratch = meter::scratch::scratch_in(dir.path());
        let worker = WorkerMemory::new(machine.clone(), 0, 0, 1);
        let note = |worker: &WorkerMemory| {
            let (mapping, note) = nameless(worker, 100_000).expect("room");
            assert_eq!(mapping.len(), 100_000);
            note
        };
        assert_eq!(Some(note(&worker)), filesystem_note(&worker));
        assert_eq!(read_dir(dir.path()).expect("there").count(), 0);
        // A full disk, or a directory that is gone, is no reason.
        drop(dir);
        let temporary = sys::filesystem::filesystem_facts(&std::env::temp_dir()).expect("there");
        let elsewhere = format!("file system: {}", temporary.one_line());
        assert_eq!(note(&worker), elsewhere);
        machine.scratch = crate::engine::testing::small_machine().scratch;
        let worker = WorkerMemory::new(machine, 0, 0, 1);
        assert_eq!(note(&worker), elsewhere);
    }

    /// A file of this length, filled with `content` if it is made.
    fn made(path: &Path, bytes: u64, content: &str) -> Result<File, Reason> {
        open_or_make(
            path,
            bytes,
            |path| File::open(path),
            |path| {
                assert!(!path.exists(), "what was left of another is gone");
                std::fs::write(path, content)?;
                match content {
                    "" => Err(ErrorKind::StorageFull.into()),
                    _ => Ok(()),
                }
            },
            |e, doing| format!("{doing}: {:?}", e.kind()),
        )
    }

    #[test]
    fn a_file_is_made_once_and_what_is_unfinished_is_made_anew() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("read.10");
        std::fs::write(dir.path().join("read.10.unfinished"), "half").expect("room");
        made(&path, 3, "one").expect("made");
        made(&path, 3, "two").expect("there");
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "one");
        let why = made(&path, 4, "more").expect_err("another length");
        assert!(matches!(why, Reason::Wrong(_)), "{why}");
        assert_eq!(read_dir(dir.path()).expect("there").count(), 1);
        // What can't be finished leaves its room to others.
        let why = made(&dir.path().join("file"), 3, "").expect_err("no room");
        assert_eq!(why, Reason::missing("making: StorageFull"));
        assert_eq!(read_dir(dir.path()).expect("there").count(), 1);
    }
}
