//! How complete a campaign is: concluded from what is expected, the documents, the records of the
//! hosts and what Slurm says. Exit codes and numbers of jobs have no part in it.

mod belongs;
mod clock;
mod evidence;
mod missing;
mod sorted;
mod state;
#[cfg(test)]
mod tests;

pub use belongs::{NotOurs, belongs};
pub use clock::CLOCK_OFF_MS;
pub use evidence::{Document, Evidence, Phase, Queue, Queued, Unreadable};
pub use state::{Foreign, JobStanding, Standing, State};

use clock::clock_off_ms;
use missing::Missing;
use sorted::Sorted;
use std::collections::BTreeMap;

/// How complete a campaign is.
pub fn standing(evidence: &Evidence) -> Standing {
    let submission = evidence.submission;
    let mut sorted = Sorted::of(evidence);
    let mut jobs = Vec::new();
    for host in &submission.hosts {
        for repetition in 1..=submission.campaign.repetitions {
            jobs.push(job_standing(evidence, &sorted, host, repetition));
        }
    }
    let mut counts = BTreeMap::new();
    for job in &jobs {
        *counts.entry(job.state).or_default() += 1;
    }
    // Of a missing job it is the reason.
    for (key, foreign) in sorted.other_program {
        let is_done =
            |job: &JobStanding| (&*job.host, job.repetition) == key && job.state == State::Done;
        if jobs.iter().any(is_done) {
            sorted.foreign.push(foreign);
        }
    }
    Standing {
        campaign: submission.campaign.name.clone(),
        digest: submission.digest.clone(),
        complete: jobs.iter().all(|job| job.state == State::Done),
        counts,
        jobs,
        foreign: sorted.foreign,
        unreadable: evidence.unreadable.to_vec(),
        queue_unknown: match evidence.queue {
            Queue::Silent(why) => Some(why.clone()),
            _ => None,
        },
    }
}

fn job_standing(evidence: &Evidence, sorted: &Sorted, host: &str, repetition: u32) -> JobStanding {
    let key = (host, repetition);
    let documents = sorted.documents.get(&key).map_or(&[][..], Vec::as_slice);
    let records = sorted.records.get(&key).map_or(&[][..], Vec::as_slice);
    let mut whole = documents
        .iter()
        .filter(|(_, document)| document.partial.is_none());
    let counts = whole.next().map(|(_, document)| *document);
    let batch = evidence.batches.get(host).and_then(|batches| {
        batches
            .iter()
            .rfind(|batch| batch.repetitions.contains(&repetition))
    });
    let mut standing = JobStanding {
        host: host.to_owned(),
        repetition,
        state: State::Done,
        reason: None,
        refusal: None,
        attempt: {
            let of_documents = documents.iter().map(|(job, _)| job.attempt);
            let of_records = records.iter().map(|record| record.job.attempt);
            of_documents.chain(of_records).max()
        },
        run: counts.map(|document| document.id.clone()),
        twice: whole.map(|(_, document)| document.id.clone()).collect(),
        clock_off_s: clock_off_ms(evidence, documents, records).map(|ms| ms as f64 / 1000.0),
        rows_unavailable: counts.map_or(0, |document| document.unavailable),
        first_unavailable: counts.and_then(|document| document.first_unavailable.clone()),
    };
    if counts.is_some() {
        return standing;
    }
    let missing = Missing {
        evidence,
        batch,
        latest: records.last().copied(),
        queued: sorted.queued.get(&key).map_or(&[][..], Vec::as_slice),
        other_program: {
            let mut others = sorted.other_program.iter().rev();
            others
                .find(|(of, _)| *of == key)
                .map(|(_, foreign)| &*foreign.reason)
        },
        partial: documents
            .iter()
            .find_map(|(_, document)| document.partial.as_deref()),
    };
    let (state, reason, refusal) = missing.state();
    let (state, reason) = missing.by_deadline(state, reason);
    standing.state = state;
    standing.reason = Some(reason).filter(|reason| !reason.is_empty());
    standing.refusal = refusal.filter(|_| state == State::Refused);
    standing
}
