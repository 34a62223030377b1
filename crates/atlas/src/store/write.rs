//! Writing a run: either the whole file is there afterwards, or nothing.

use super::{StoreError, document, io};
use model::run::Run;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// zstd's own default: stronger levels save a few percent and cost seconds.
const COMPRESSION_LEVEL: i32 = 3;

/// Writes a run: compressed where the name ends in `.zst`, else plain JSON.
/// A file that was there is replaced in one step.
pub fn write(run: &Run, path: &Path) -> Result<(), StoreError> {
    let mut bytes = document::to_json(run)?;
    if path.extension().is_some_and(|ext| ext == "zst") {
        bytes = zstd::bulk::compress(&bytes, COMPRESSION_LEVEL)
            .map_err(|e| StoreError::Unwritable(e.to_string()))?;
    } else {
        bytes.push(b'\n');
    }
    write_bytes(&bytes, path)
}

/// Writes any bytes in the same way: a file that was there is replaced in one
/// step.
pub fn write_bytes(bytes: &[u8], path: &Path) -> Result<(), StoreError> {
    match target(path)? {
        Target::Stream => write_stream(path, bytes),
        Target::File(path) => write_file(&path, |file| file.write_all(bytes)),
    }
}

/// Finds out before measuring whether [`write`] would work afterwards: a typo
/// must not cost a minute. Leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<(), StoreError> {
    match target(path)? {
        Target::Stream => OpenOptions::new()
            .write(true)
            .open(path)
            .map(drop)
            .map_err(io("write", path)),
        Target::File(path) => {
            let (temporary, file) = create_temporary(&path)?;
            drop(file);
            std::fs::remove_file(&temporary).map_err(io("write", &path))
        }
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
        Err(e) => Err(io("write", path)(e)),
        Ok(found) if found.is_dir() => Err(not_a_file("it is a directory")),
        Ok(found) if !found.is_file() => Ok(Target::Stream),
        Ok(found) if found.permissions().readonly() => {
            Err(not_a_file("the file there is read-only"))
        }
        Ok(_) => std::fs::canonicalize(path)
            .map(Target::File)
            .map_err(io("write", path)),
    }
}

fn write_stream(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(io("write", path))
}

/// Directory of a file, for a bare name the current one.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A new file of its own in the same directory, so that the rename stays
/// within one file system.
fn create_temporary(path: &Path) -> Result<(PathBuf, File), StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory(path).join(format!(".{name}.{}.incomplete", std::process::id()));
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)
        .map(|file| (temporary, file))
        .map_err(io("write", path))
}

fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), StoreError> {
    let (temporary, mut file) = create_temporary(path)?;
    let done = fill(&mut file)
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = done {
        // The first error is the one to tell; that the remains stay too is
        // the same full or vanished disk.
        let _ = std::fs::remove_file(&temporary);
        return Err(io("write", path)(error));
    }
    // The new name must survive a power cut as well. Some file systems refuse
    // to sync a directory: the file is whole there nevertheless.
    if let Ok(directory) = File::open(directory(path)) {
        let _ = directory.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;
    use crate::store::read;

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
    fn a_full_disk_leaves_the_old_file_and_nothing_else() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("run.json");
        std::fs::write(&path, "old").expect("old file");
        let full = |file: &mut File| {
            file.write_all(b"half of i")?;
            Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
        };
        let error = write_file(&path, full).expect_err("full").to_string();
        assert!(
            error.contains("run.json") && !error.contains('\n'),
            "{error}"
        );
        assert_eq!(names(dir.path()), ["run.json"]);
        assert_eq!(std::fs::read(&path).expect("old file"), b"old");
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
