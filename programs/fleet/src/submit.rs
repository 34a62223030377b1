//! Submitting the jobs of a campaign.

use crate::campaign::Engine;
use crate::directory::Directory;
use crate::standing::{
    Evidence, ExpectedJobs, JobStanding, JobState, Queue, Records, Standing, standing,
};
use crate::submission::{Batch, Batches, Outcome, Submission};
use crate::{FleetError, crash, scan, slurm};
use std::collections::BTreeMap;
use std::fs::File;

/// What a campaign's directory and its engine say now.
pub fn look(directory: &Directory, submission: &Submission) -> Result<Standing, FleetError> {
    look_with(directory, submission, |_, _| Ok(()))
}

/// The same, with every document of an expected job as it is read.
pub fn look_with<E: From<FleetError>>(
    directory: &Directory,
    submission: &Submission,
    each: impl FnMut(&crate::standing::JobDocument, &model::run::Run) -> Result<(), E>,
) -> Result<Standing, E> {
    // Before the documents: a job that ends in between has its document by then.
    let queue = match submission.campaign.engine {
        Engine::Slurm => slurm::queue(submission),
        Engine::Ssh if directory.is_locked() => Queue::Driven,
        Engine::Ssh => Queue::Idle,
    };
    let batches = match submission.campaign.engine {
        Engine::Slurm => directory.all_batches(&submission.hosts)?,
        Engine::Ssh => Batches::new(),
    };
    let expected = ExpectedJobs::from_submission(submission);
    let mut records = Records::default();
    scan::records(directory, |record| records.take_record(&expected, record))?;
    let (documents, unreadable) = scan::documents(directory, &expected, each)?;
    Ok(standing(Evidence {
        expected: &expected,
        batches: &batches,
        queue: &queue,
        documents,
        unreadable: &unreadable,
        records,
        now_unix_ms: sys::clock::realtime_unix_ms(),
    }))
}

/// Jobs that are to be submitted: those never submitted, and with `again` those lost and refused.
fn open_jobs(standing: &Standing, again: bool) -> BTreeMap<&str, Vec<&JobStanding>> {
    let is_open = |job: &&JobStanding| match job.state {
        JobState::NotSubmitted => true,
        JobState::Lost | JobState::Refused => again,
        _ => false,
    };
    let mut open: BTreeMap<&str, Vec<&JobStanding>> = BTreeMap::new();
    for job in standing.jobs.iter().filter(is_open) {
        open.entry(&job.host).or_default().push(job);
    }
    open
}

/// What submitting came to.
#[derive(Debug, Default, serde::Serialize)]
pub struct Submitted {
    /// Jobs that Slurm took now.
    pub accepted: usize,
    /// Jobs that it refused, by host, with its reason.
    pub refused: BTreeMap<String, String>,
    /// Jobs that were submitted before.
    pub known: usize,
}

/// Hands the open jobs to Slurm, a batch for each host.
pub fn by_slurm(
    directory: &Directory,
    submission: &Submission,
    again: bool,
    lock: &File,
) -> Result<Submitted, FleetError> {
    slurm::prepare(directory, submission)?;
    let standing = look(directory, submission)?;
    if let Some(reason) = &standing.queue_unknown {
        let reason = reason.clone();
        return Err(FleetError::Command { command: "Slurm does not answer", reason });
    }
    let mut batches = directory.all_batches(&submission.hosts)?;
    let open = open_jobs(&standing, again);
    let mut submitted = Submitted {
        known: standing.jobs.len() - open.values().map(Vec::len).sum::<usize>(),
        ..Submitted::default()
    };
    for (host, jobs) in open {
        let batch = next(&mut batches, host, &jobs);
        directory.write_batches(host, &batches[host])?;
        crash::point("intention written");
        let outcome = slurm::submit(directory, submission, (host, &batch), lock)?;
        match &outcome {
            Outcome::Refused(why) => {
                submitted.refused.insert(host.to_owned(), why.clone());
            }
            _ => submitted.accepted += jobs.len(),
        }
        if let Some(last) = batches.get_mut(host).and_then(|all| all.last_mut()) {
            last.outcome = outcome;
        }
        directory.write_batches(host, &batches[host])?;
    }
    Ok(submitted)
}

/// Adds the next batch of a host. An intention that came to nothing is taken up again.
fn next(batches: &mut Batches, host: &str, jobs: &[&JobStanding]) -> Batch {
    let all = batches.entry(host.to_owned()).or_default();
    all.retain(|batch| {
        batch.outcome != Outcome::Intended
            || jobs.iter().all(|job| !batch.repetitions.contains(&job.repetition))
    });
    let attempts = jobs.iter().filter_map(|job| job.attempt);
    let before = all.iter().map(|batch| batch.first_attempt).chain(attempts).max();
    let batch = Batch {
        number: all.last().map_or(1, |last| last.number + 1),
        repetitions: jobs.iter().map(|job| job.repetition).collect(),
        first_attempt: before.unwrap_or(0) + 1,
        at_unix_ms: sys::clock::realtime_unix_ms(),
        outcome: Outcome::Intended,
    };
    all.push(batch.clone());
    batch
}
