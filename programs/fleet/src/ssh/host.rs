//! The jobs of one host over ssh, one after the other, and what their failures mean. `remote.rs` runs
//! commands and copies files, `job.rs` runs one job and fetches its document. `ssh.rs` distributes hosts over
//! threads.

mod job;
mod remote;

use super::{HostEvent, nonce};
use crate::FleetError;
use crate::directory::Directory;
use crate::record::{Record, Refusal, Stage};
use crate::standing::JobStanding;
use crate::submission::Submission;
use model::campaign::Job;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

pub(super) struct Host<'a> {
    pub(super) directory: &'a Directory,
    pub(super) submission: &'a Submission,
    pub(super) host: &'a str,
    pub(super) program: &'a Path,
    /// Ids of the runs that are here, each with its host and repetition.
    pub(super) ids: &'a Mutex<HashMap<String, (String, u32)>>,
    pub(super) end: Instant,
    pub(super) report: &'a (dyn Fn(HostEvent) + Sync),
}

/// Why a job has no document.
enum Failure {
    /// The host: the jobs after this one would fail in the same way.
    Host(Refusal, String),
    /// This job alone, with the stage of its record if that is not written yet.
    Job(Option<Stage>, String),
    /// This machine.
    Here(FleetError),
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Failure {
        Failure::Here(error)
    }
}

impl Host<'_> {
    pub(super) fn run_jobs(
        &self,
        jobs: &[&JobStanding],
        records: &[Record],
    ) -> Result<(), FleetError> {
        let mut failed = self.prepare().err();
        let mut reported = String::new();
        for job in jobs {
            let mut record = self.record(job);
            let (host, repetition) = (self.host.to_owned(), job.repetition);
            let done = match failed.take() {
                Some(failure) => Err(failure),
                None => self.result(job, &mut record, records),
            };
            let (stage, reason) = match done {
                Ok(()) => {
                    (self.report)(HostEvent::Done { host, repetition });
                    continue;
                }
                Err(Failure::Here(error)) => return Err(error),
                Err(Failure::Job(stage, text)) => (stage, text),
                Err(Failure::Host(why, text)) => {
                    failed = Some(Failure::Host(why, text.clone()));
                    (Some(Stage::Refused { why, text: text.clone() }), text)
                }
            };
            if let Some(stage) = stage {
                record.stage = stage;
                record.write(self.directory)?;
            }
            // A host fails for all of its jobs.
            if reason != reported {
                reported.clone_from(&reason);
                (self.report)(HostEvent::Failed { host, reason });
            }
        }
        Ok(())
    }

    /// Copies the document of an earlier attempt, or measures.
    fn result(
        &self,
        job: &JobStanding,
        record: &mut Record,
        records: &[Record],
    ) -> Result<(), Failure> {
        if self.fetch_earlier(job, records)? {
            return Ok(());
        }
        let campaign = &self.submission.campaign;
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let deadline = String::from(campaign.deadline);
            let text = format!(
                "repetition {} not started: the deadline of {deadline} is over",
                job.repetition
            );
            return Err(Failure::Job(None, text));
        }
        (self.report)(HostEvent::Begins { host: self.host.to_owned(), repetition: job.repetition });
        record.write(self.directory)?;
        let limit = campaign.time_limit.map_or(left, |limit| limit.0.min(left));
        let (of_host, partial) = self.job(&record.job, limit)?;
        *record = of_host;
        record.write(self.directory)?;
        match (&record.stage, partial) {
            (Stage::Refused { text, .. }, _) => Err(Failure::Job(None, text.clone())),
            (_, Some(why)) => Err(Failure::Job(None, format!("it was interrupted ({why})"))),
            (_, None) => Ok(()),
        }
    }

    /// The record of the next attempt at a job.
    fn record(&self, job: &JobStanding) -> Record {
        let now = sys::clock::realtime_unix_ms();
        Record {
            job: Job {
                campaign: self.submission.campaign.name.clone(),
                digest: self.submission.digest.clone(),
                host: self.host.to_owned(),
                repetition: job.repetition,
                attempt: job.attempt.unwrap_or(0) + 1,
                nonce: nonce(),
            },
            started_unix_ms: now,
            reference_unix_ms: None,
            stage: Stage::Started,
        }
    }
}
