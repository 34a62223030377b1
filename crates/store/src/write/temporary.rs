//! Files that are not whole yet.

use crate::StoreError;
use crate::error::{FileAction, io};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::place::Place;

/// End of the name of a file that is not whole yet.
const INCOMPLETE: &str = ".incomplete";

/// A new file of its own in the same directory, so that the rename stays
/// within one file system. A `private` one only its owner may read.
pub(super) fn create_temporary(
    place: &Place,
    path: &Path,
    private: bool,
) -> Result<(OsString, File), StoreError> {
    let name = || temporary_name(place.name());
    create_named(place, private, name).map_err(io(FileAction::Write, path))
}

/// Creates the first of these names that is free: what another writes is
/// never opened, whatever it is called.
pub(super) fn create_named(
    place: &Place,
    private: bool,
    mut name: impl FnMut() -> OsString,
) -> std::io::Result<(OsString, File)> {
    let mut tried = 0;
    loop {
        let temporary = name();
        tried += 1;
        match place.create(&temporary, private) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists && tried < NAMES => {}
            created => return Ok((temporary, created?)),
        }
    }
}

/// Names that are tried for a new file.
const NAMES: usize = 100;

/// A name next to the file. Two threads may write one name at once, and two
/// containers that share a directory may have processes of one number: so
/// there are random bits in it too.
pub(crate) fn temporary_name(name: &OsStr) -> OsString {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = name.to_string_lossy();
    let process = std::process::id();
    // Each state has keys of its own, from the system's random numbers.
    let random = RandomState::new().build_hasher().finish();
    format!(".{name}.{process}-{number}-{random:016x}{INCOMPLETE}").into()
}

/// So long no writer takes: a file that is not whole since belongs to no writer.
const LEFT_AFTER: Duration = Duration::from_secs(3600);

/// Whether a file was left behind by a writer that was killed.
pub(crate) fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let since = |metadata: std::fs::Metadata| metadata.modified().ok()?.elapsed().ok();
    name.starts_with('.')
        && name.ends_with(INCOMPLETE)
        && std::fs::metadata(path).ok().and_then(since).is_some_and(|since| since > LEFT_AFTER)
}
