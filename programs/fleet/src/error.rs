//! Why a campaign can't be read, submitted or looked at.

use std::path::{Path, PathBuf};

/// What failed. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("{}:{line}: {reason}", path.display())]
    InLine {
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        reason: String,
    },
    #[error("{}: {reason}", path.display())]
    InFile { path: PathBuf, reason: String },
    #[error("can't start a thread: {0}")]
    NoThread(std::io::Error),
    #[error("can't {action} {}: {cause}", path.display())]
    Io {
        /// `read` or `write`.
        action: &'static str,
        path: PathBuf,
        cause: std::io::Error,
    },
    #[error(
        "{} was submitted as campaign {known}, and this file is {now}: undo the change, or give it \
         another name",
        path.display()
    )]
    Changed { path: PathBuf, known: String, now: String },
    #[error("campaign {0:?} was not submitted on this machine: run `latlas fleet submit FILE`")]
    NotSubmitted(String),
    #[error("{command}: {reason}")]
    Command {
        /// `sbatch`, `sinfo`, ...
        command: &'static str,
        reason: String,
    },
    /// Another `fleet submit` of this campaign runs.
    #[error("another `latlas fleet submit` of this campaign is running")]
    Busy,
    #[error(transparent)]
    Store(#[from] store::StoreError),
}

impl FleetError {
    pub(crate) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> FleetError {
        let path = path.to_owned();
        move |cause| FleetError::Io { action, path, cause }
    }

    pub(crate) fn in_file(path: &Path, reason: impl Into<String>) -> FleetError {
        FleetError::InFile { path: path.to_owned(), reason: reason.into() }
    }
}
