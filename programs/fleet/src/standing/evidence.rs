//! What a standing is concluded from.

use super::{Documents, ExpectedJobs, Records, Unreadable};
use crate::submission::Batches;

/// What the engine says of the jobs.
#[derive(Clone, Debug, PartialEq)]
pub enum Queue {
    /// Slurm's jobs of the campaign.
    Jobs(Vec<Queued>),
    /// Slurm does not answer.
    Silent(String),
    /// Over ssh: `fleet submit` is running.
    Driven,
    /// Over ssh: it is not.
    Idle,
}

/// A job in Slurm's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The host it was asked for.
    pub host: String,
    pub batch: u32,
    pub repetition: u32,
    /// Where it stands.
    pub phase: Phase,
    /// Slurm's reason, such as `Resources`.
    pub reason: String,
}

/// Where a job stands in Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// In the queue.
    Pending,
    /// On its host.
    Running,
    /// It ended, in this state of Slurm's.
    Ended(String),
}

/// What a standing is concluded from.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// What was submitted, and the jobs that are expected.
    pub expected: &'a ExpectedJobs<'a>,
    /// What Slurm was asked for.
    pub batches: &'a Batches,
    /// What the engine says. It must be asked before the documents are read.
    pub queue: &'a Queue,
    pub documents: Documents,
    /// Files that are none.
    pub unreadable: &'a [Unreadable],
    /// What hosts say.
    pub records: Records,
    /// Now, ms since 1970 UTC.
    pub now_unix_ms: u64,
}
