//! How complete a campaign is, and the state of each job.

use super::{Foreign, Unreadable};
use crate::record::Refusal;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;

model::words! {
    /// State of a job.
    #[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "snake_case")]
    pub enum JobState: name {
        /// Its document is here.
        Done = "done",
        /// On its host.
        Running = "running",
        /// It ran, and waits for another attempt.
        Requeued = "requeued",
        /// It never started.
        Waiting = "waiting",
        /// The host, or Slurm, refused it.
        Refused = "refused",
        /// Nothing will come of it.
        Lost = "lost",
        /// Nothing was asked for it yet.
        NotSubmitted = "not submitted",
    }
}

/// A job with its state.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct JobStanding {
    pub host: String,
    pub repetition: u32,
    pub state: JobState,
    /// Why it is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Kind of refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// The latest attempt known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Id of the run that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Ids of further whole runs of this repetition: it was measured more than once, and counts once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub twice: Vec<String>,
    /// By how much the host's clock is ahead, in s, where that is more than [`CLOCK_OFF_MS`](super::CLOCK_OFF_MS).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_off_s: Option<f64>,
    /// Rows without a figure in the run that counts.
    #[serde(skip_serializing_if = "is_zero")]
    pub rows_unavailable: usize,
    /// The first of them, with the reason.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "serialize_text")]
    pub first_unavailable: Option<Arc<str>>,
}

fn serialize_text<S: Serializer>(text: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
    text.as_deref().serialize(to)
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// How complete a campaign is.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Standing {
    pub campaign: String,
    /// Digest of its content.
    pub digest: String,
    /// Whether every expected job is done.
    pub complete: bool,
    /// Jobs by state.
    pub counts: BTreeMap<JobState, usize>,
    /// The jobs, by host as submitted, then repetition.
    pub jobs: Vec<JobStanding>,
    /// Documents of no expected job: not stored.
    pub foreign: Vec<Foreign>,
    /// Files that are no documents.
    pub unreadable: Vec<Unreadable>,
    /// Why Slurm's queue is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_unknown: Option<String>,
}
