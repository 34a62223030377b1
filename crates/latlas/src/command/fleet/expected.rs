//! Which hosts of a campaign lack runs, and why.

use ::fleet::directory::Directory;
use ::fleet::journal::Submission;
use ::fleet::standing::{JobStanding, State};
use ::fleet::submit;
use model::fleet::{Expected, Fleet, Missing};
use std::collections::{HashMap, HashSet};

/// Compares the runs of a fleet with the jobs of the campaign; its directory is asked only for what is missing.
pub(super) fn expected(fleet: &Fleet, directory: &Directory, submission: &Submission) -> Expected {
    let names = fleet.hosts.iter().map(|own| (&*own.name, &own.repetitions));
    let has: HashSet<(&str, u32)> = names
        .flat_map(|(name, repetitions)| repetitions.iter().map(move |&one| (name, one)))
        .collect();
    let lacking = |host: &String| -> Vec<u32> {
        (1..=submission.campaign.repetitions)
            .filter(|&repetition| !has.contains(&(&**host, repetition)))
            .collect()
    };
    let hosts = submission.hosts.iter().map(|host| (host, lacking(host)));
    let hosts: Vec<(&String, Vec<u32>)> = hosts.filter(|(_, all)| !all.is_empty()).collect();
    let standing = match hosts.is_empty() {
        true => None,
        false => Some(submit::look(directory, submission)),
    };
    let jobs: HashMap<(&str, u32), &JobStanding> = match &standing {
        Some(Ok(standing)) => {
            let jobs = standing.jobs.iter();
            jobs.map(|job| ((&*job.host, job.repetition), job))
                .collect()
        }
        _ => HashMap::new(),
    };
    let why = |host: &str, repetition: u32| match &standing {
        Some(Err(error)) => error.to_string(),
        _ => jobs
            .get(&(host, repetition))
            .map_or("not in the campaign".into(), |job| reason(job)),
    };
    let missing = hosts.into_iter().map(|(host, lacking)| {
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
