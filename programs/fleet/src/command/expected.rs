//! Which hosts of a campaign lack runs, and why.

use fleet::directory::Directory;
use fleet::figures::{ExpectedHosts, Fleet, Missing};
use fleet::standing::{self, JobStanding, JobState};
use fleet::submission::Submission;
use fleet::submit;
use std::collections::HashSet;

/// Compares the runs of a fleet with the jobs of the campaign; its directory is asked only for what is missing.
pub(super) fn expected(
    fleet: &Fleet,
    directory: &Directory,
    submission: &Submission,
) -> ExpectedHosts {
    let names = fleet.hosts.iter().map(|own| (&*own.name, &own.repetitions));
    let has: HashSet<(&str, u32)> = names
        .flat_map(|(name, repetitions)| repetitions.iter().map(move |&one| (name, one)))
        .collect();
    let jobs = standing::ExpectedJobs::from_submission(submission).jobs().enumerate();
    let lacking: Vec<(usize, (&str, u32))> = jobs.filter(|(_, job)| !has.contains(job)).collect();
    let standing = match lacking.is_empty() {
        true => None,
        false => Some(submit::look(directory, submission)),
    };
    let why = |place: usize| match &standing {
        Some(Ok(standing)) => reason(&standing.jobs[place]),
        Some(Err(error)) => error.to_string(),
        None => String::new(),
    };
    let hosts = lacking.chunk_by(|(_, a), (_, b)| a.0 == b.0);
    let missing = hosts.map(|of_host| {
        let mut reasons: Vec<(Vec<u32>, String)> = Vec::new();
        for &(place, (_, repetition)) in of_host {
            let why = why(place);
            match reasons.last_mut() {
                Some((repetitions, same)) if *same == why => repetitions.push(repetition),
                _ => reasons.push((vec![repetition], why)),
            }
        }
        let texts = reasons.into_iter().map(|(repetitions, why)| {
            let s = if repetitions.len() == 1 { "" } else { "s" };
            format!("repetition{s} {}: {why}", model::phrases::ranges(&repetitions))
        });
        Missing { host: of_host[0].1.0.to_owned(), why: texts.collect::<Vec<String>>().join("; ") }
    });
    ExpectedHosts { hosts: submission.hosts.len(), missing: missing.collect() }
}

fn reason(job: &JobStanding) -> String {
    match (job.state, &job.reason) {
        (JobState::Done, _) => "measured, not stored here: run `latlas fleet collect`".into(),
        (state, Some(reason)) => format!("{}, {reason}", state.name()),
        (state, None) => state.name().into(),
    }
}
