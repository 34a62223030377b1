//! A directory as a tree of its own: its files, links as links.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// So many files are copied at most.
const MOST_FILES: usize = 500_000;

/// Why a directory is not copied.
#[derive(thiserror::Error, Debug)]
pub enum CopyError {
    #[error("{file}: {error}")]
    File { file: String, error: io::Error },
    #[error("it holds more than {MOST_FILES} files")]
    Files,
}

fn of_file(file: &Path) -> impl FnOnce(io::Error) -> CopyError {
    move |error| CopyError::File { file: file.display().to_string(), error }
}

/// All files below a directory, relative to it, without caches (folders with a `CACHEDIR.TAG`) and `.git`.
pub(super) fn files_below(directory: &Path) -> Result<Vec<PathBuf>, CopyError> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let full = directory.join(&folder);
        for entry in fs::read_dir(&full).map_err(of_file(&full))? {
            let entry = entry.map_err(of_file(&full))?;
            let kind = entry.file_type().map_err(of_file(&full))?;
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            let is_cache = || entry.path().join("CACHEDIR.TAG").exists();
            match kind.is_dir() {
                true if name == OsStr::new(".git") || is_cache() => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
        if files.len() > MOST_FILES {
            return Err(CopyError::Files);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Bytes of these files of a directory.
pub(super) fn total_bytes(directory: &Path, files: &[PathBuf]) -> u64 {
    let length =
        |file: &PathBuf| fs::symlink_metadata(directory.join(file)).map(|found| found.len());
    files.iter().filter_map(|file| length(file).ok()).sum()
}

/// Copies files; those that git knows and nobody has any more are left out, and pipes and sockets too.
pub(super) fn copy_files(from: &Path, files: &[PathBuf], to: &Path) -> Result<(), CopyError> {
    for file in files {
        let (source, copy) = (from.join(file), to.join(file));
        let found = match fs::symlink_metadata(&source) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(of_file(&source))?,
        };
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder).map_err(of_file(folder))?;
        }
        if found.is_symlink() {
            let target = fs::read_link(&source).map_err(of_file(&source))?;
            symlink(target, &copy).map_err(of_file(&copy))?;
        } else if found.is_file() {
            fs::copy(&source, &copy).map_err(of_file(&source))?;
        } else if found.is_dir() {
            // Another repository within this one, which git names as one file.
            let below = files_below(&source)?;
            copy_files(&source, &below, &copy)?;
        }
    }
    Ok(())
}
