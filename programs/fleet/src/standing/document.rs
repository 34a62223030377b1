//! A file among the results: what it says of its job, or why it says nothing.

use model::campaign::Job;
use serde::Serialize;

/// What a document says of its job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobDocument {
    pub file: String,
    pub id: String,
    /// The job that made it.
    pub job: Option<Job>,
    /// Why the run is not whole.
    pub partial: Option<String>,
    /// When it began, by the host's clock.
    pub started_unix_ms: u64,
    /// How long it took.
    pub wall_ms: u64,
    pub version: String,
    pub commit: Option<String>,
    /// Rows that could not be measured.
    pub unavailable: usize,
    /// The first of them, with the reason.
    pub first_unavailable: Option<String>,
}

/// A file among the documents that is none.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub file: String,
    pub reason: String,
}

/// A document that is not stored.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    pub file: String,
    /// Id of the run.
    pub run: String,
    pub reason: String,
}
