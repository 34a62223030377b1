//! A campaign over ssh: the submitting machine stages the program on each host, runs one job after the
//! other there, and copies the documents back. What a host measured before the connection broke is
//! copied at the next attempt.

use crate::campaign::Engine;
use crate::directory::Directory;
use crate::record::Refusal;
use crate::standing::{JobStanding, JobState};
use crate::submission::Submission;
use crate::{FleetError, scan, submit};
use host::Host;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::Instant;

mod host;

/// What happened on a host, for progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// A job begins.
    Begins { host: String, repetition: u32 },
    /// Its document is here.
    Done { host: String, repetition: u32 },
    /// It has none.
    Failed { host: String, reason: String },
}

/// Runs the missing jobs, on so many hosts at once. The caller holds the lock of the campaign.
///
/// # Errors
/// If the campaign's directory can't be read or written: hosts that fail have a record.
pub fn run_missing(
    directory: &Directory,
    submission: &Submission,
    (at_once, again): (usize, bool),
    program: &Path,
    report: &(dyn Fn(HostEvent) + Sync),
) -> Result<(), FleetError> {
    debug_assert_eq!(submission.campaign.engine, Engine::Ssh);
    let standing = submit::look(directory, submission)?;
    let mut records = Vec::new();
    scan::records(directory, |record| records.push(record))?;
    let mut hosts: Vec<(&str, Vec<&JobStanding>)> = Vec::new();
    for job in standing.jobs.iter().filter(|job| is_open(job, again)) {
        match hosts.last_mut() {
            Some((host, jobs)) if *host == job.host => jobs.push(job),
            _ => hosts.push((&job.host, vec![job])),
        }
    }
    let ids = standing.jobs.iter().flat_map(|job| {
        let key = (job.host.clone(), job.repetition);
        let ids = job.run.iter().chain(&job.twice);
        ids.map(move |id| (id.clone(), key.clone()))
    });
    let ids = Mutex::new(ids.collect());
    let end = Instant::now() + submission.campaign.deadline.0;
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for number in 0..at_once.min(hosts.len()) {
            let of_hosts = || {
                while let Some((host, jobs)) = hosts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let of_host =
                        Host { directory, submission, host, program, ids: &ids, end, report };
                    if let Err(error) = of_host.run_jobs(jobs, &records) {
                        let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
                        failed.get_or_insert(error);
                        next.store(hosts.len(), Ordering::Relaxed);
                    }
                }
            };
            // With fewer it takes longer, and no more than that.
            match sys::thread::spawn_scoped(scope, Builder::new(), of_hosts) {
                Err(error) if number == 0 => return Err(FleetError::NoThread(error)),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        Ok(())
    })?;
    match failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// A host that could not be reached is tried again, as is a job that was cut off.
fn is_open(job: &JobStanding, again: bool) -> bool {
    match job.state {
        JobState::Done => false,
        JobState::Refused => again || job.refusal == Some(Refusal::Unreachable),
        _ => true,
    }
}

/// Random digits of an execution.
pub fn nonce() -> String {
    format!("{:016x}", fastrand::u64(..))
}
