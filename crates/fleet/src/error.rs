//! Why a campaign can't be read, submitted or looked at.

use std::path::{Path, PathBuf};

/// What failed. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A line of the campaign's file.
    #[error("{}:{line}: {reason}", path.display())]
    InLine {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A value of the campaign's file, or of a file of hosts.
    #[error("{}: {reason}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No thread for the first host.
    #[error("can't start a thread: {0}")]
    NoThread(std::io::Error),
    /// A file or directory.
    #[error("can't {action} {}: {cause}", path.display())]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// Which.
        path: PathBuf,
        /// Why not.
        cause: std::io::Error,
    },
    /// A directory that another campaign has.
    #[error(
        "{} was submitted as campaign {known}, and this file is {now}: undo the change, or give it \
         another name",
        path.display()
    )]
    Changed {
        /// The campaign's directory.
        path: PathBuf,
        /// Digest of what was submitted.
        known: String,
        /// Digest of the file.
        now: String,
    },
    /// Nothing was submitted.
    #[error("campaign {0:?} was not submitted on this machine: run `latlas fleet submit FILE`")]
    NotSubmitted(String),
    /// A command of the engine that can't be started or fails.
    #[error("{command}: {reason}")]
    Command {
        /// `sbatch`, `sinfo`, ...
        command: &'static str,
        /// What it printed.
        reason: String,
    },
    /// Another `fleet submit` of this campaign runs.
    #[error("another `latlas fleet submit` of this campaign is running")]
    Busy,
    /// The store.
    #[error(transparent)]
    Store(#[from] store::StoreError),
}

impl FleetError {
    /// An error of a file.
    pub(crate) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> FleetError {
        let path = path.to_owned();
        move |cause| FleetError::Io { action, path, cause }
    }

    /// An error in a file's content.
    pub(crate) fn in_file(path: &Path, reason: impl Into<String>) -> FleetError {
        FleetError::InFile { path: path.to_owned(), reason: reason.into() }
    }
}
