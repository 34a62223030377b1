//! How a child was lost, explained in one way.

use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A child was lost.
#[derive(thiserror::Error, Clone, Debug)]
#[error("{who} {how}")]
pub struct Lost {
    /// Which.
    pub who: String,
    /// How.
    pub how: Loss,
}

/// How a child was lost.
#[derive(thiserror::Error, Clone, Debug)]
pub enum Loss {
    /// The system's word.
    #[error("did not start: {0}")]
    NotStarted(Arc<io::Error>),
    /// Its process ended; exit status or signal.
    #[error("ended early ({0})")]
    Ended(String),
    /// It did not answer in this time.
    #[error("timed out after {} s", .0.as_secs())]
    TimedOut(Duration),
    /// It did not end then.
    #[error("closed its connection and went on")]
    Closed,
    /// It was not wanted any more.
    #[error("was stopped before it answered")]
    Stopped,
    /// What it sent can't be read, or it can't be looked at.
    #[error("failed: {0}")]
    Broken(Arc<io::Error>),
}

impl From<io::Error> for Loss {
    fn from(error: io::Error) -> Loss {
        Loss::Broken(Arc::new(error))
    }
}
