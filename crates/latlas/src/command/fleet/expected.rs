//! Which hosts of a campaign lack runs, and why.

use ::fleet::directory::Directory;
use ::fleet::journal::Submission;
use ::fleet::standing::{JobStanding, State};
use ::fleet::submit;
use model::fleet::{Expected, Fleet, Missing};

/// Compares the runs of a fleet with the jobs of the campaign; its directory is asked only for what is missing.
pub(super) fn expected(fleet: &Fleet, directory: &Directory, submission: &Submission) -> Expected {
    let has = |host: &str, repetition: u32| {
        let mut hosts = fleet.hosts.iter().filter(|own| own.name == host);
        hosts.any(|own| own.repetitions.contains(&repetition))
    };
    let all = 1..=submission.campaign.repetitions;
    let lacking = |host: &&String| all.clone().any(|repetition| !has(host, repetition));
    let hosts: Vec<&String> = submission.hosts.iter().filter(lacking).collect();
    let standing = match hosts.is_empty() {
        true => None,
        false => Some(submit::look(directory, submission)),
    };
    let why = |host: &str, repetition: u32| match &standing {
        Some(Ok(standing)) => {
            let mut jobs = standing.jobs.iter();
            let own = jobs.find(|job| job.host == host && job.repetition == repetition);
            own.map_or("not in the campaign".into(), reason)
        }
        Some(Err(error)) => error.to_string(),
        None => String::new(),
    };
    let missing = hosts.into_iter().map(|host| {
        let lacking = all.clone().filter(|repetition| !has(host, *repetition));
        let mut reasons: Vec<(Vec<u32>, String)> = Vec::new();
        for repetition in lacking {
            let why = why(host, repetition);
            match reasons.last_mut() {
                Some((repetitions, same)) if *same == why => repetitions.push(repetition),
                _ => reasons.push((vec![repetition], why)),
            }
        }
        let texts = reasons.into_iter().map(|(repetitions, why)| {
            let s = if repetitions.len() == 1 { "" } else { "s" };
            format!("repetition{s} {}: {why}", model::text::ranges(&repetitions))
        });
        Missing {
            host: host.clone(),
            why: texts.collect::<Vec<String>>().join("; "),
        }
    });
    Expected {
        hosts: submission.hosts.len(),
        missing: missing.collect(),
    }
}

fn reason(job: &JobStanding) -> String {
    match (job.state, &job.reason) {
        (State::Done, _) => "measured, not stored here: run `latlas fleet collect`".into(),
        (state, Some(reason)) => format!("{}, {reason}", state.name()),
        (state, None) => state.name().into(),
    }
}
