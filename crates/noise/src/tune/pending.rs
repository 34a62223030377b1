//! Whether something waits to be put back, for users that may only read.

use super::journal::{Journal, is_put_back};
use super::state::StateDir;
use std::io::ErrorKind;

/// A sentence if a journal lies in the state directory or that of the machine: values were set, and
/// not put back yet; or if that can't be known. The journal itself is root's to
/// read.
pub fn pending(state: &StateDir) -> Option<String> {
    let directories = state.directories();
    directories.iter().find_map(|directory| {
        let path = directory.display();
        match std::fs::symlink_metadata(Journal::journal_path(directory)) {
            Ok(_) if is_put_back(directory, directories[0]) => None,
            Ok(_) => Some(format!(
                "values of `latlas noise tune` are in force or not restored: run `latlas noise \
                 restore` as root (journal in {path})"
            )),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => Some(format!(
                "unknown whether values must be restored by `latlas noise restore`: {path}: {error}"
            )),
        }
    })
}
