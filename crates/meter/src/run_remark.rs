//! What a reader must know of a whole run: said at once where it is a warning,
//! and kept with the document.

use crate::cell_state::PackFailure;
use crate::scratch::ScratchError;
use sys::role::Lost;

/// A remark on a run.
#[derive(thiserror::Error, Clone, Debug)]
pub enum RunRemark {
    /// A worker could not be started.
    #[error("a worker could not be started: {0}")]
    NotStarted(Lost),
    /// The workers can't be pinned; the text is the system's.
    #[error("the workers can't be pinned to a CPU ({0}): figures may mix CPUs")]
    NotPinned(String),
    /// A worker was lost while it measured a cell, or between cells.
    #[error("{loss}{}; its samples are kept", .cell.as_ref().map_or(String::new(), |cell| format!(" while measuring {cell}")))]
    WorkerLost {
        /// How.
        loss: Lost,
        /// Name of the cell.
        cell: Option<String>,
    },
    /// A probe of a pack cost its worker; another was started.
    #[error("{row}: {failure}; the row is not available")]
    PackLost {
        /// Name of the cell.
        row: String,
        /// What it did.
        failure: PackFailure,
    },
    /// A worker's answer can't be read; the text is the reader's.
    #[error("an answer can't be read: {0}")]
    Unreadable(String),
    /// The time allowed was too short.
    #[error(
        "the time allowed ended in round {round} of {rounds}: some rows have fewer samples than planned"
    )]
    TimeEnded {
        /// Round, from 1.
        round: u32,
        /// Rounds planned.
        rounds: u32,
    },
    /// The parent and the workers share one CPU.
    #[error(
        "only one CPU may be used: the conducting process shares it with the workers, and rows on several CPUs are not available"
    )]
    OneCpu,
    /// The scratch directory is still there.
    #[error("files of this run could not be removed: {0}")]
    FilesLeft(ScratchError),
}

/// Why a document is partial.
#[derive(thiserror::Error, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partial {
    /// The user ended the run.
    #[error("interrupted: rows hold what was measured until then")]
    Interrupted,
    /// No worker is left.
    #[error("every worker ended early")]
    AllWorkersLost,
}
