//! How complete a campaign is: concluded from what is expected, the documents, the records of the
//! hosts and what Slurm says. Exit codes and numbers of jobs have no part in it.

mod belongs;
mod clock;
mod document;
mod documents;
mod evidence;
mod missing;
mod records;
mod state;
#[cfg(test)]
pub(crate) mod tests;

pub use belongs::ExpectedJobs;
pub use clock::CLOCK_OFF_MS;
pub use document::{Foreign, JobDocument, Unreadable};
pub use documents::Documents;
pub use evidence::{Evidence, Phase, Queue, Queued};
pub use records::Records;
pub use state::{JobStanding, JobState, Standing};

use clock::clock_off_ms;
use documents::Own;
use missing::Missing;
use records::KnownRecord;
use std::collections::{BTreeMap, HashMap};
use std::iter::Peekable;
use std::vec::IntoIter;

/// How complete a campaign is.
pub fn standing(mut evidence: Evidence) -> Standing {
    let submission = evidence.expected.submission;
    // What is kept of a document is dropped with its job: there may be many.
    let (documents, mut foreign, others) = std::mem::take(&mut evidence.documents).by_job();
    let mut documents = documents.into_iter().peekable();
    let mut records = std::mem::take(&mut evidence.records).by_job().into_iter().peekable();
    let queued = queued(evidence.queue);
    let jobs = evidence.expected.jobs().enumerate();
    let jobs: Vec<JobStanding> = jobs
        .map(|(place, key)| {
            let of_job = OfJob {
                key,
                documents: take(&mut documents, |one| one.place == place),
                records: take(&mut records, |one| one.place == place),
                queued: queued.get(&key).map_or(&[], Vec::as_slice),
                other_program: others.get(&place).and_then(|all| Some(&*all.last()?.reason)),
            };
            job_standing(&evidence, of_job)
        })
        .collect();
    let mut counts = BTreeMap::new();
    for job in &jobs {
        *counts.entry(job.state).or_default() += 1;
    }
    for (place, others) in others {
        // Of a missing job it is the reason.
        if jobs[place].state == JobState::Done {
            foreign.extend(others);
        }
    }
    Standing {
        campaign: submission.campaign.name.clone(),
        digest: submission.digest.clone(),
        complete: jobs.iter().all(|job| job.state == JobState::Done),
        counts,
        jobs,
        foreign,
        unreadable: evidence.unreadable.to_vec(),
        queue_unknown: match evidence.queue {
            Queue::Silent(why) => Some(why.clone()),
            _ => None,
        },
    }
}

struct OfJob<'a> {
    key: (&'a str, u32),
    documents: Vec<Own>,
    records: Vec<KnownRecord>,
    queued: &'a [&'a Queued],
    other_program: Option<&'a str>,
}

fn queued(queue: &Queue) -> HashMap<(&str, u32), Vec<&Queued>> {
    let mut by_job: HashMap<_, Vec<_>> = HashMap::new();
    if let Queue::Jobs(jobs) = queue {
        for job in jobs {
            let of_job = by_job.entry((&*job.host, job.repetition));
            of_job.or_default().push(job);
        }
    }
    by_job
}

/// The next ones that are so.
fn take<T>(from: &mut Peekable<IntoIter<T>>, is: impl Fn(&T) -> bool) -> Vec<T> {
    std::iter::from_fn(|| from.next_if(&is)).collect()
}

fn job_standing(evidence: &Evidence, job: OfJob) -> JobStanding {
    let (host, repetition) = job.key;
    let (documents, records) = (&job.documents, &job.records);
    let mut whole = documents.iter().filter(|one| one.partial.is_none());
    let counts = whole.next();
    let batch = evidence
        .batches
        .get(host)
        .and_then(|batches| batches.iter().rfind(|batch| batch.repetitions.contains(&repetition)));
    let mut standing = JobStanding {
        host: host.to_owned(),
        repetition,
        state: JobState::Done,
        reason: None,
        refusal: None,
        attempt: {
            let of_documents = documents.iter().map(|one| one.attempt);
            let of_records = records.iter().map(|one| one.attempt);
            of_documents.chain(of_records).max()
        },
        run: counts.map(|one| one.id.to_string()),
        twice: whole.map(|one| one.id.to_string()).collect(),
        clock_off_s: clock_off_ms(evidence, documents, records).map(|ms| ms as f64 / 1000.0),
        rows_unavailable: counts.map_or(0, |one| one.unavailable),
        first_unavailable: counts.and_then(|one| one.first_unavailable.clone()),
    };
    if counts.is_some() {
        return standing;
    }
    let missing = Missing {
        evidence,
        batch,
        latest: records.last(),
        queued: job.queued,
        other_program: job.other_program,
        partial: documents.iter().find_map(|one| one.partial.as_deref()),
    };
    let (state, reason, refusal) = missing.state();
    let (state, reason) = missing.by_deadline(state, reason);
    standing.state = state;
    standing.reason = Some(reason).filter(|reason| !reason.is_empty());
    standing.refusal = refusal.filter(|_| state == JobState::Refused);
    standing
}
