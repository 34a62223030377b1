//! Writing a run: either the whole file is there afterwards, or nothing.

use super::{StoreError, document, io};
use crate::crash;
use crate::error::FileAction;
use model::run::Run;
use rustix::fs::{Access, access};
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// zstd's own default: stronger levels save a few percent and cost seconds.
const COMPRESSION_LEVEL: i32 = 3;

/// Writes a run: compressed where the name ends in `.zst`, else plain JSON.
/// A file that was there is replaced in one step.
pub fn write(run: &Run, path: &Path) -> Result<(), StoreError> {
    if is_packed_name(path) {
        return write_bytes(&packed(run)?, path);
    }
    let mut bytes = document::to_json(run)?;
    bytes.push(b'\n');
    write_bytes(&bytes, path)
}

fn is_packed_name(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == "zst")
}

/// A run as it is kept.
pub(super) fn packed(run: &Run) -> Result<Vec<u8>, StoreError> {
    zstd::bulk::compress(&document::to_json(run)?, COMPRESSION_LEVEL)
        .map_err(|e| StoreError::Unwritable(e.to_string()))
}

/// Writes a file that must not be there yet, whole or not at all. Of several
/// that write the same name at once, one does and the others get
/// `AlreadyExists`: a rename would replace, a link does not.
pub(super) fn write_new(bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    write_file(
        path,
        |file| file.write_all(bytes),
        |temporary, path| match std::fs::hard_link(temporary, path) {
            Ok(()) => {
                crash::point("document linked");
                // Whole and in its place: a second name of it does no harm.
                let _ = std::fs::remove_file(temporary);
                Ok(())
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists || path.exists() => {
                Err(std::io::ErrorKind::AlreadyExists.into())
            }
            // A file system without links.
            Err(_) => std::fs::rename(temporary, path),
        },
    )
}

/// Writes any bytes in the same way: a file that was there is replaced in one
/// step.
pub fn write_bytes(bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    match target(path)? {
        Target::Stream => write_stream(path, bytes),
        Target::File(path) => write_file(
            &path,
            |file| file.write_all(bytes),
            |temporary, path| std::fs::rename(temporary, path),
        ),
    }
}

/// Room that a run's document needs, with some to spare: compressed, and not.
const PACKED_ROOM_BYTES: usize = 2 << 20;
const PLAIN_ROOM_BYTES: usize = 12 << 20;

/// Finds out whether a file of a run's size could be made at a path. Leaves
/// nothing behind.
pub(super) fn check_room(path: &Path) -> Result<(), StoreError> {
    let (temporary, mut file) = create_temporary(path)?;
    // Bytes of all values: a file system that compresses makes less of zeros.
    let mut state = 1_u32;
    let room = match is_packed_name(path) {
        true => PACKED_ROOM_BYTES,
        false => PLAIN_ROOM_BYTES,
    };
    let block: Vec<u8> = (0..room)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        })
        .collect();
    // Quotas and file systems that allocate late refuse only now.
    let written = file.write_all(&block).and_then(|()| file.sync_data());
    drop(file);
    let removed = std::fs::remove_file(&temporary);
    written.and(removed).map_err(io(FileAction::Write, path))
}

/// Finds out before measuring whether [`write`] would work afterwards: a typo
/// must not cost a minute. Leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<(), StoreError> {
    match target(path)? {
        // Opening a pipe would wait for its reader, and closing it end the reader.
        Target::Stream => {
            access(path, Access::WRITE_OK).map_err(|e| io(FileAction::Write, path)(e.into()))
        }
        Target::File(path) => check_room(&path),
    }
}

/// Where the bytes go.
enum Target {
    /// A device or a pipe, which a rename would replace by a file.
    Stream,
    /// A file, links followed: a rename would replace the link itself.
    File(PathBuf),
}

fn target(path: &Path) -> Result<Target, StoreError> {
    let not_a_file = |reason| StoreError::NotAFile {
        path: path.to_owned(),
        reason,
    };
    if path.file_name().is_none() {
        return Err(not_a_file("that is not the name of a file"));
    }
    match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Target::File(path.to_owned())),
        Err(e) => Err(io(FileAction::Write, path)(e)),
        Ok(found) if found.is_dir() => Err(not_a_file("it is a directory")),
        Ok(found) if !found.is_file() => Ok(Target::Stream),
        Ok(found) if found.permissions().readonly() => {
            Err(not_a_file("the file there is read-only"))
        }
        Ok(_) => std::fs::canonicalize(path)
            .map(Target::File)
            .map_err(io(FileAction::Write, path)),
    }
}

fn write_stream(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(io(FileAction::Write, path))
}

/// Directory of a file, for a bare name the current one.
pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// End of the name of a file that is not whole yet.
const INCOMPLETE: &str = ".incomplete";

/// A new file of its own in the same directory, so that the rename stays
/// within one file system.
fn create_temporary(path: &Path) -> Result<(PathBuf, File), StoreError> {
    create_named(path, || temporary_name(path))
}

/// Creates the first of these names that is free: what another writes is
/// never opened, whatever it is called.
fn create_named(
    path: &Path,
    mut name: impl FnMut() -> PathBuf,
) -> Result<(PathBuf, File), StoreError> {
    let mut tried = 0;
    loop {
        let temporary = name();
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary);
        tried += 1;
        match created {
            Ok(file) => return Ok((temporary, file)),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && tried < NAMES => {}
            Err(e) => return Err(io(FileAction::Write, path)(e)),
        }
    }
}

/// Names that are tried for a new file.
const NAMES: usize = 100;

/// A name next to the file. Two threads may write one name at once, and two
/// containers that share a directory may have processes of one number: so
/// there are random bits in it too.
pub(super) fn temporary_name(path: &Path) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = std::process::id();
    // Each state has keys of its own, from the system's random numbers.
    let random = RandomState::new().build_hasher().finish();
    let own = format!(".{name}.{process}-{number}-{random:016x}{INCOMPLETE}");
    directory(path).join(own)
}

fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
    put: impl FnOnce(&Path, &Path) -> std::io::Result<()>,
) -> Result<(), StoreError> {
    let (temporary, mut file) = create_temporary(path)?;
    crash::point("document begun");
    let done = fill(&mut file)
        .inspect(|()| crash::point("document filled"))
        .and_then(|()| file.sync_all())
        .inspect(|()| crash::point("document synced"))
        .and_then(|()| put(&temporary, path));
    if let Err(error) = done {
        // The first error is the one to tell; that the remains stay too is
        // the same full or vanished disk.
        let _ = std::fs::remove_file(&temporary);
        return Err(io(FileAction::Write, path)(error));
    }
    sync_directory(directory(path)).map_err(io(FileAction::Write, path))
}

/// A new name, or one that is gone, must survive a power cut as well. Where a
/// file system can't sync a directory, or it may not be opened, nothing better
/// can be had; any other error is one.
pub(super) fn sync_directory(directory: &Path) -> std::io::Result<()> {
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.or_else(|error| match can_not_be_synced(error.kind()) {
        true => Ok(()),
        false => Err(error),
    })
}

/// EINVAL and ENOTSUP (fsync(2): the file does not support it), EROFS, and
/// EACCES of a directory that may be written and not read.
fn can_not_be_synced(error: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind;
    matches!(
        error,
        ErrorKind::InvalidInput
            | ErrorKind::Unsupported
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::PermissionDenied
    )
}

/// Makes a directory with those above it, each of which survives a power cut.
pub(super) fn make_directory(path: &Path) -> Result<(), StoreError> {
    let missing: Vec<&Path> = path
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.exists())
        .collect();
    std::fs::create_dir_all(path).map_err(io(FileAction::Create, path))?;
    for made in missing {
        sync_directory(directory(made)).map_err(io(FileAction::Create, path))?;
    }
    Ok(())
}

/// So long no writer takes: a file that is not whole since belongs to no writer.
const LEFT_AFTER: Duration = Duration::from_secs(3600);

/// Whether a file was left behind by a writer that was killed.
pub(super) fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let since = |metadata: std::fs::Metadata| metadata.modified().ok()?.elapsed().ok();
    name.starts_with('.')
        && name.ends_with(INCOMPLETE)
        && std::fs::metadata(path)
            .ok()
            .and_then(since)
            .is_some_and(|since| since > LEFT_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;
    use model::synthetic;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(dir)
            .expect("directory")
            .map(|e| e.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_name_decides_whether_it_is_compressed() {
        let dir = tempfile::tempdir().expect("tempdir");
        let run = synthetic::run();
        for name in ["run.json", "run.json.zst"] {
            let path = dir.path().join(name);
            write(&run, &path).expect("written");
            assert!(read(&path).expect("read") == run);
        }
        let plain = std::fs::read(dir.path().join("run.json")).expect("plain");
        assert_eq!(plain[0], b'{');
        let packed = std::fs::read(dir.path().join("run.json.zst")).expect("packed");
        assert!(packed.len() * 3 < plain.len());
        assert_eq!(names(dir.path()), ["run.json", "run.json.zst"]);
    }

    #[test]
    fn what_another_writes_is_never_opened() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("run.json");
        let named = |number: u32| dir.path().join(format!(".run.json.{number}.incomplete"));
        std::fs::write(named(0), "another's").expect("written");
        let mut number = 0;
        let (own, _file) = create_named(&path, || {
            number += 1;
            named(number - 1)
        })
        .expect("the next name");
        assert_eq!(own, named(1));
        let kept = std::fs::read(named(0)).expect("there");
        assert_eq!(kept, b"another's");
        create_named(&path, || named(0)).expect_err("it does not try for ever");
        assert_ne!(temporary_name(&path), temporary_name(&path));
    }

    #[test]
    fn a_directory_that_fails_to_sync_is_reported() {
        use std::io::{Error, ErrorKind};
        assert!(can_not_be_synced(ErrorKind::InvalidInput));
        for error in [Error::from_raw_os_error(5), ErrorKind::StorageFull.into()] {
            assert!(!can_not_be_synced(error.kind()), "{error}");
        }
        let dir = tempfile::tempdir().expect("tempdir");
        sync_directory(dir.path()).expect("synced");
        sync_directory(&dir.path().join("absent")).expect_err("it is not there");
        let deep = dir.path().join("a/b/c");
        make_directory(&deep).expect("made");
        make_directory(&deep).expect("there already");
        assert!(deep.is_dir());
    }

    #[test]
    fn a_full_disk_leaves_the_old_file_and_nothing_else() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("run.json");
        std::fs::write(&path, "old").expect("old file");
        let full = |file: &mut File| {
            file.write_all(b"half of i")?;
            Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
        };
        let put = |_: &Path, _: &Path| panic!("it must not get so far");
        let error = write_file(&path, full, put).expect_err("full").to_string();
        assert!(
            error.contains("run.json") && !error.contains('\n'),
            "{error}"
        );
        assert_eq!(names(dir.path()), ["run.json"]);
        assert_eq!(std::fs::read(&path).expect("old file"), b"old");
    }

    #[test]
    fn a_pipe_is_checked_without_its_reader_seeing_an_end() {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::fs::{Mode, OFlags, open};
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo runs").success());
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let reader = open(&path, flags, Mode::empty()).expect("opened");
        check_writable(&path).expect("writable");
        let mut ends = [PollFd::new(&reader, PollFlags::IN)];
        assert_eq!(poll(&mut ends, Some(&Timespec::default())), Ok(0));
        write_bytes(b"a page", &path).expect("written");
        let mut page = [0; 6];
        assert_eq!(rustix::io::read(&reader, &mut page), Ok(6));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        write(&synthetic::run(), Path::new("/dev/null")).expect("swallowed");
        assert!(!std::fs::metadata("/dev/null").expect("device").is_file());
        let error = write(&synthetic::run(), Path::new("/dev/full")).expect_err("full");
        assert!(error.to_string().contains("No space left"), "{error}");
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = tempfile::tempdir().expect("tempdir");
        let (file, link) = (dir.path().join("run.json"), dir.path().join("link.json"));
        std::fs::write(&file, "old").expect("old file");
        std::os::unix::fs::symlink(&file, &link).expect("link");
        write(&synthetic::run(), &link).expect("written");
        assert!(link.is_symlink());
        assert!(read(&file).expect("through the link") == synthetic::run());
    }

    #[test]
    fn what_could_not_be_written_is_known_before() {
        let dir = tempfile::tempdir().expect("tempdir");
        assert!(check_writable(&dir.path().join("run.json")).is_ok());
        assert!(names(dir.path()).is_empty(), "the check leaves nothing");
        for (path, reason) in [
            (dir.path().to_owned(), "is a directory"),
            (dir.path().join("absent/run.json"), "No such file"),
            (PathBuf::from("/dev/null/run.json"), "Not a directory"),
        ] {
            let error = check_writable(&path).expect_err("refused").to_string();
            assert!(error.contains(reason), "{error}");
        }
        let locked = dir.path().join("locked.json");
        std::fs::write(&locked, "").expect("file");
        let mut permissions = std::fs::metadata(&locked).expect("file").permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&locked, permissions).expect("locked");
        assert!(check_writable(&locked).is_err());
    }
}
