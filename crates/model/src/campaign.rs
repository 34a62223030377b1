//! A campaign: the same rows on many hosts. What a run says about it.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// The job of a campaign that a run was made by. Numbers of a scheduler's jobs are no part of it: Slurm gives
/// them again after a crash of its controller.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// Name of the campaign.
    pub campaign: String,
    /// Digest of the campaign's file: one name with another content is another campaign.
    pub digest: String,
    /// The host, as the campaign names it.
    pub host: String,
    /// Which repetition on this host, from 1.
    pub repetition: u32,
    /// Which attempt at it, from 1: later ones were requeued or submitted again.
    pub attempt: u32,
    /// Random digits of this execution: two executions of one attempt differ in them.
    pub nonce: String,
}

/// Of two whole runs of one host and repetition, that with the higher rank counts: the later attempt, or of one
/// attempt that which began first.
pub fn rank(attempt: u32, started_unix_ms: u64, id: &str) -> impl Ord + use<> {
    (attempt, Reverse((started_unix_ms, id.to_owned())))
}
