//! Files that are not whole yet.

use super::directory::directory;
use crate::StoreError;
use crate::error::{FileAction, io};
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// End of the name of a file that is not whole yet.
const INCOMPLETE: &str = ".incomplete";

/// A new file of its own in the same directory, so that the rename stays
/// within one file system.
pub(super) fn create_temporary(path: &Path) -> Result<(PathBuf, File), StoreError> {
    create_named(path, || temporary_name(path))
}

/// Creates the first of these names that is free: what another writes is
/// never opened, whatever it is called.
pub(super) fn create_named(
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
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = std::process::id();
    // Each state has keys of its own, from the system's random numbers.
    let random = RandomState::new().build_hasher().finish();
    let own = format!(".{name}.{process}-{number}-{random:016x}{INCOMPLETE}");
    directory(path).join(own)
}

/// So long no writer takes: a file that is not whole since belongs to no writer.
const LEFT_AFTER: Duration = Duration::from_secs(3600);

/// Whether a file was left behind by a writer that was killed.
pub(crate) fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let since = |metadata: std::fs::Metadata| metadata.modified().ok()?.elapsed().ok();
    name.starts_with('.')
        && name.ends_with(INCOMPLETE)
        && std::fs::metadata(path)
            .ok()
            .and_then(since)
            .is_some_and(|since| since > LEFT_AFTER)
}
