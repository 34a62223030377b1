//! What is kept of the records of hosts.

use super::ExpectedJobs;
use crate::record::{Record, Stage};

/// The records of a campaign's jobs.
#[derive(Debug, Default)]
pub struct Records(Vec<KnownRecord>);

/// What is kept of a record.
#[derive(Debug)]
pub(super) struct KnownRecord {
    pub(super) place: usize,
    pub(super) attempt: u32,
    started_unix_ms: u64,
    /// By how much the host's clock is ahead.
    pub(super) ahead_ms: Option<i64>,
    pub(super) stage: Stage,
}

impl Records {
    /// Takes a record, if it is of an expected job.
    pub fn take_record(&mut self, expected: &ExpectedJobs, record: Record) {
        let Record { job, started_unix_ms, reference_unix_ms, stage } = record;
        let is_ours = job.digest == expected.submission.digest;
        let place = expected.place(&job.host, job.repetition);
        self.0.extend(place.filter(|_| is_ours).map(|place| KnownRecord {
            place,
            attempt: job.attempt,
            started_unix_ms,
            ahead_ms: reference_unix_ms.map(|reference| started_unix_ms as i64 - reference as i64),
            stage,
        }));
    }

    /// By place, the latest last.
    pub(super) fn by_job(mut self) -> Vec<KnownRecord> {
        self.0.sort_by_key(|one| (one.place, one.attempt, one.started_unix_ms));
        self.0
    }
}
