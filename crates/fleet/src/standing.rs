//! How complete a campaign is: concluded from what is expected, the documents, the records of the
//! hosts and what Slurm says. Exit codes and numbers of jobs have no part in it.

use crate::campaign::Engine;
use crate::journal::{Batch, Batches, Outcome, Submission};
use crate::record::{Record, Refusal, Stage};
use model::campaign::{Job, rank};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is kept of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its file.
    pub file: String,
    /// Id of the run.
    pub id: String,
    /// The job that made it.
    pub job: Option<Job>,
    /// Why the run is not whole.
    pub partial: Option<String>,
    /// When it began, by the host's clock.
    pub started_unix_ms: u64,
    /// How long it took.
    pub wall_ms: u64,
    /// Version of the program.
    pub version: String,
    /// Its commit.
    pub commit: Option<String>,
    /// Rows that could not be measured.
    pub unavailable: usize,
    /// The first of them, with the reason.
    pub first_unavailable: Option<String>,
}

/// A file among the documents that is none.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// What the engine says of the jobs.
#[derive(Clone, Debug, PartialEq)]
pub enum Queue {
    /// Slurm's jobs of the campaign.
    Jobs(Vec<Queued>),
    /// Slurm does not answer.
    Silent(String),
    /// Over ssh: `fleet submit` is running.
    Driven,
    /// Over ssh: it is not.
    Idle,
}

/// A job in Slurm's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The host it was asked for.
    pub host: String,
    /// The batch.
    pub batch: u32,
    /// The repetition.
    pub repetition: u32,
    /// Where it stands.
    pub phase: Phase,
    /// Slurm's reason, such as `Resources`.
    pub reason: String,
}

/// Where a job stands in Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// In the queue.
    Pending,
    /// On its host.
    Running,
    /// It ended, in this state of Slurm's.
    Ended(String),
}

/// State of a job.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its document is here.
    Done,
    /// On its host.
    Running,
    /// It ran, and waits for another attempt.
    Requeued,
    /// It never started.
    Waiting,
    /// The host, or Slurm, refused it.
    Refused,
    /// Nothing will come of it.
    Lost,
    /// Nothing was asked for it yet.
    NotSubmitted,
}

/// A job with its state.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct JobStanding {
    /// The host.
    pub host: String,
    /// The repetition.
    pub repetition: u32,
    /// Its state.
    pub state: State,
    /// Why it is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Kind of refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// The latest attempt known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Id of the run that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Ids of further whole runs of this repetition: it was measured more than once, and counts once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub twice: Vec<String>,
    /// By how much the host's clock is ahead, in s, where that is more than [`CLOCK_OFF_MS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_off_s: Option<f64>,
    /// Rows without a figure in the run that counts.
    #[serde(skip_serializing_if = "is_zero")]
    pub rows_unavailable: usize,
    /// The first of them, with the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_unavailable: Option<String>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A document that is not stored.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its file.
    pub file: String,
    /// Id of the run.
    pub run: String,
    /// Why.
    pub reason: String,
}

/// How complete a campaign is.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Standing {
    /// Its name.
    pub campaign: String,
    /// Digest of its content.
    pub digest: String,
    /// Whether every expected job is done.
    pub complete: bool,
    /// Jobs by state.
    pub counts: BTreeMap<State, usize>,
    /// The jobs, by host as submitted, then repetition.
    pub jobs: Vec<JobStanding>,
    /// Documents of no expected job: not stored.
    pub foreign: Vec<Foreign>,
    /// Files that are no documents.
    pub unreadable: Vec<Unreadable>,
    /// Why Slurm's queue is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_unknown: Option<String>,
}

/// What a standing is concluded from.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// What was submitted.
    pub submission: &'a Submission,
    /// What Slurm was asked for.
    pub batches: &'a Batches,
    /// What the engine says. It must be asked before the documents are read.
    pub queue: &'a Queue,
    /// The documents.
    pub documents: &'a [Document],
    /// Files that are none.
    pub unreadable: &'a [Unreadable],
    /// What hosts say.
    pub records: &'a [Record],
    /// Now, ms since 1970 UTC.
    pub now_unix_ms: u64,
}

/// Clocks may differ by so much, with the time from Slurm's start of a job to ours.
pub const CLOCK_OFF_MS: i64 = 120_000;

/// Why a document is not one of this campaign's jobs.
///
/// # Errors
/// The reason, with whether the program is the only difference.
pub fn belongs<'a>(submission: &Submission, document: &'a Document) -> Result<&'a Job, NotOurs> {
    let Some(job) = &document.job else {
        return Err(NotOurs::Foreign("it is of no campaign".into()));
    };
    let program = &submission.program;
    let foreign = |reason: String| Err(NotOurs::Foreign(reason));
    if job.campaign != submission.campaign.name {
        foreign(format!("it is of campaign {:?}", job.campaign))
    } else if job.digest != submission.digest {
        let (now, then) = (&submission.digest, &job.digest);
        foreign(format!(
            "it is of another campaign of this name ({then}, not {now})"
        ))
    } else if !submission.hosts.contains(&job.host) {
        foreign(format!("host {:?} is not in the campaign", job.host))
    } else if !(1..=submission.campaign.repetitions).contains(&job.repetition) {
        foreign(format!("there is no repetition {}", job.repetition))
    } else if (&document.version, &document.commit) != (&program.version, &program.commit) {
        let named = |version: &str, commit: &Option<String>| match commit {
            Some(commit) => format!("{version} ({commit})"),
            None => version.to_owned(),
        };
        let (its, ours) = (
            named(&document.version, &document.commit),
            named(&program.version, &program.commit),
        );
        Err(NotOurs::Program(format!(
            "measured by latlas {its}; the campaign's is {ours}"
        )))
    } else {
        Ok(job)
    }
}

/// Why a document does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOurs {
    /// It is of no expected job.
    Foreign(String),
    /// Another program measured an expected job.
    Program(String),
}

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

/// A host and a repetition.
type Key<'a> = (&'a str, u32);

/// The evidence by job.
#[derive(Default)]
struct Sorted<'a> {
    documents: BTreeMap<Key<'a>, Vec<(&'a Job, &'a Document)>>,
    other_program: Vec<(Key<'a>, Foreign)>,
    records: BTreeMap<Key<'a>, Vec<&'a Record>>,
    queued: BTreeMap<Key<'a>, Vec<&'a Queued>>,
    foreign: Vec<Foreign>,
}

impl<'a> Sorted<'a> {
    fn of(evidence: &Evidence<'a>) -> Sorted<'a> {
        let mut sorted = Sorted::default();
        let mut seen: BTreeMap<&str, &Document> = BTreeMap::new();
        for document in evidence.documents {
            let foreign = |reason: String| Foreign {
                file: document.file.clone(),
                run: document.id.clone(),
                reason,
            };
            match (belongs(evidence.submission, document), &document.job) {
                (Ok(job), _) => match seen.get(&*document.id) {
                    None => {
                        seen.insert(&document.id, document);
                        let of_job = sorted.documents.entry((&job.host, job.repetition));
                        of_job.or_default().push((job, document));
                    }
                    Some(known) if known.job != document.job => {
                        let reason = format!("it has the id of results/{}", known.file);
                        sorted.foreign.push(foreign(reason));
                    }
                    // A copy of a file is no second run.
                    Some(_) => {}
                },
                (Err(NotOurs::Program(text)), Some(job)) => {
                    let key = (&*job.host, job.repetition);
                    sorted.other_program.push((key, foreign(text)));
                }
                (Err(NotOurs::Foreign(reason) | NotOurs::Program(reason)), _) => {
                    sorted.foreign.push(foreign(reason));
                }
            }
        }
        for documents in sorted.documents.values_mut() {
            documents.sort_by_key(|(job, document)| {
                std::cmp::Reverse(rank(job, document.started_unix_ms, &document.id))
            });
        }
        let ours = |record: &&Record| record.job.digest == evidence.submission.digest;
        for record in evidence.records.iter().filter(ours) {
            let of_job = sorted
                .records
                .entry((&record.job.host, record.job.repetition));
            of_job.or_default().push(record);
        }
        for records in sorted.records.values_mut() {
            records.sort_by_key(|record| (record.job.attempt, record.started_unix_ms));
        }
        if let Queue::Jobs(jobs) = evidence.queue {
            for job in jobs {
                let of_job = sorted.queued.entry((&job.host, job.repetition));
                of_job.or_default().push(job);
            }
        }
        sorted
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

/// What is known of a job without a whole document.
struct Missing<'a> {
    evidence: &'a Evidence<'a>,
    batch: Option<&'a Batch>,
    latest: Option<&'a Record>,
    queued: &'a [&'a Queued],
    other_program: Option<&'a str>,
    partial: Option<&'a str>,
}

impl Missing<'_> {
    fn state(&self) -> (State, String, Option<Refusal>) {
        let began = self.latest.is_some();
        let plain = |state: State, reason: &str| (state, reason.to_owned(), None);
        // A later batch is asked about first.
        let live = self
            .queued
            .iter()
            .filter(|job| !matches!(job.phase, Phase::Ended(_)));
        if let Some(job) = live.max_by_key(|job| job.batch) {
            return match (&job.phase, began) {
                (Phase::Running, _) => plain(State::Running, ""),
                (_, true) => plain(State::Requeued, &job.reason),
                (_, false) => plain(State::Waiting, &job.reason),
            };
        }
        match self.latest.map(|record| &record.stage) {
            Some(Stage::Refused { why, text }) => {
                return (State::Refused, text.clone(), Some(*why));
            }
            Some(Stage::TimedOut { text }) => return plain(State::Lost, text),
            _ => {}
        }
        if let Some(text) = self.other_program {
            return (State::Refused, text.to_owned(), Some(Refusal::Program));
        }
        match (
            self.evidence.queue,
            self.evidence.submission.campaign.engine,
        ) {
            (Queue::Silent(_), _) if began => {
                return plain(State::Running, "it began, and Slurm does not answer");
            }
            (Queue::Silent(_), _) if self.is_accepted() => {
                return plain(State::Waiting, "Slurm does not answer");
            }
            (Queue::Driven, _) if began => return plain(State::Running, ""),
            (Queue::Driven, _) => return plain(State::Waiting, "other hosts come first"),
            (Queue::Idle, _) | (_, Engine::Ssh) if !began => {
                return plain(State::NotSubmitted, "run `latlas fleet submit` again");
            }
            _ => {}
        }
        match self.batch.map(|batch| &batch.outcome) {
            Some(Outcome::Refused(text)) => {
                return (State::Refused, text.clone(), Some(Refusal::Scheduler));
            }
            None | Some(Outcome::Intended) if !began && self.queued.is_empty() => {
                return plain(State::NotSubmitted, "run `latlas fleet submit` again");
            }
            _ => {}
        }
        (State::Lost, self.lost(), None)
    }

    fn is_accepted(&self) -> bool {
        self.batch
            .is_some_and(|batch| batch.outcome == Outcome::Accepted)
    }

    /// Why nothing will come of it.
    fn lost(&self) -> String {
        let ended = self.queued.iter().find_map(|job| match &job.phase {
            Phase::Ended(state) => Some(state.as_str()),
            _ => None,
        });
        let what = match (self.partial, self.latest.map(|record| &record.stage)) {
            (Some(why), _) => format!("it was interrupted ({why})"),
            (None, Some(Stage::Finished)) => "it finished, but its document is gone".into(),
            (None, Some(_)) if self.evidence.submission.campaign.engine == Engine::Ssh => {
                "`latlas fleet submit` ended before the job: submit again to copy its result".into()
            }
            (None, Some(_)) => "it began and did not finish".into(),
            (None, None) => "it never began".to_owned(),
        };
        match (ended, self.evidence.queue) {
            (Some(state), _) => format!("{what}; Slurm: {state}"),
            (None, Queue::Jobs(_)) => format!("{what}, and Slurm has no job for it"),
            (None, _) => what,
        }
    }

    /// What has not come by the deadline is lost. Over ssh, `submit` ends the jobs.
    fn by_deadline(&self, state: State, reason: String) -> (State, String) {
        let submission = self.evidence.submission;
        if submission.campaign.engine == Engine::Ssh {
            return (state, reason);
        }
        let deadline = submission.campaign.deadline;
        let since = self
            .batch
            .map_or(submission.submitted_unix_ms, |batch| batch.at_unix_ms);
        let end = since.saturating_add(deadline.0.as_millis() as u64);
        let was = match state {
            State::Running => "running",
            State::Requeued => "requeued",
            State::Waiting => "waiting",
            _ => return (state, reason),
        };
        match self.evidence.now_unix_ms > end {
            true => {
                let reason = Some(reason).filter(|reason| !reason.is_empty());
                let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
                let deadline = String::from(deadline);
                (State::Lost, format!("still {was} after {deadline}{reason}"))
            }
            false => (state, reason),
        }
    }
}

/// By how much the host's clock is ahead, if that is too much. A record has both clocks; a document
/// can't begin before it was submitted, nor end later than now.
fn clock_off_ms(
    evidence: &Evidence,
    documents: &[(&Job, &Document)],
    records: &[&Record],
) -> Option<i64> {
    let difference = |later: u64, earlier: u64| later as i64 - earlier as i64;
    let compared = records.iter().rev().find_map(|record| {
        Some(difference(
            record.started_unix_ms,
            record.reference_unix_ms?,
        ))
    });
    let is_off = |ms: &i64| ms.abs() > CLOCK_OFF_MS;
    if compared.is_some() {
        return compared.filter(is_off);
    }
    let submitted = evidence.submission.submitted_unix_ms;
    documents.iter().find_map(|(_, document)| {
        let end = document.started_unix_ms.saturating_add(document.wall_ms);
        let before = difference(document.started_unix_ms, submitted).min(0);
        let ahead = difference(end, evidence.now_unix_ms).max(0);
        [before, ahead].into_iter().find(is_off)
    })
}

#[cfg(test)]
mod tests;
