//! Whether something waits to be put back, for users that may only read.

use super::journal::Journal;
use std::io::ErrorKind;
use std::path::Path;

/// A sentence if a journal lies in this state directory: values were set, and
/// not put back yet; or if that can't be known. The journal itself is root's to
/// read.
pub fn pending(state: &Path) -> Option<String> {
    let path = state.display();
    match std::fs::symlink_metadata(Journal::path(state)) {
        Ok(_) => Some(format!(
            "values of `latlas noise tune` are in force or not restored: run `latlas noise restore` as \
             root (journal in {path})"
        )),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            None
        }
        Err(error) => Some(format!(
            "unknown whether values must be restored by `latlas noise restore`: {path}: {error}"
        )),
    }
}
