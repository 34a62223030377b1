//! The directory that files of rows go to.

use model::filesystem::Filesystem;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A place for files.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct ScratchDir {
    /// The directory: before a run the one under which its own is made, in a
    /// worker the run's own.
    pub directory: PathBuf,
    /// What it is on.
    pub filesystem: Filesystem,
    /// Whether the user named it.
    pub named: bool,
}

impl ScratchDir {
    pub(super) fn new(directory: PathBuf, filesystem: Filesystem, named: bool) -> ScratchDir {
        ScratchDir {
            filesystem: Filesystem { directory: directory.display().to_string(), ..filesystem },
            directory,
            named,
        }
    }
}
