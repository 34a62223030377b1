use super::*;
use crate::campaign::Campaign;
use crate::record::{Record, Refusal, Stage};
use crate::submission::{Batch, Batches, Outcome, ProgramFile, Submission};
use model::campaign::Job;
use std::path::Path;

const SUBMITTED: u64 = 1_000_000_000;
const HOUR: u64 = 3_600_000;

pub(crate) fn submission(engine: &str) -> Submission {
    let text =
        format!("name='lab'\nhosts=['n1','n2']\nrepetitions=1\ndeadline='2h'\nengine='{engine}'");
    let campaign = Campaign::parse(Path::new("lab.toml"), &text).expect("a campaign");
    Submission {
        digest: campaign.digest(),
        hosts: campaign.hosts.clone(),
        program: ProgramFile { digest: "p".into(), version: "1".into(), commit: None },
        arguments: Vec::new(),
        submitted_unix_ms: SUBMITTED,
        campaign,
    }
}

/// A scene, with n2 done and n1 as a test sets it.
struct Scene {
    submission: Submission,
    batches: Batches,
    queue: Queue,
    documents: Vec<JobDocument>,
    records: Vec<Record>,
    now: u64,
}

impl Scene {
    fn new() -> Scene {
        let submission = submission("slurm");
        let batch = Batch {
            number: 1,
            repetitions: vec![1],
            first_attempt: 1,
            at_unix_ms: SUBMITTED,
            outcome: Outcome::Accepted,
        };
        let mut scene = Scene {
            batches: submission
                .hosts
                .iter()
                .map(|host| (host.clone(), vec![batch.clone()]))
                .collect(),
            submission,
            queue: Queue::Jobs(Vec::new()),
            documents: Vec::new(),
            records: Vec::new(),
            now: SUBMITTED + HOUR,
        };
        scene.made_document("n2", 1, "other");
        scene
    }

    fn job(&self, host: &str, attempt: u32, nonce: &str) -> Job {
        Job {
            campaign: "lab".into(),
            digest: self.submission.digest.clone(),
            host: host.into(),
            repetition: 1,
            attempt,
            nonce: nonce.into(),
        }
    }

    fn made_document(&mut self, host: &str, attempt: u32, nonce: &str) -> &mut JobDocument {
        let job = self.job(host, attempt, nonce);
        self.documents.push(JobDocument {
            file: format!("{host}.{attempt}.{nonce}"),
            id: format!("id-{nonce}"),
            job: Some(job),
            partial: None,
            started_unix_ms: SUBMITTED + 60_000,
            wall_ms: 1000,
            version: "1".into(),
            commit: None,
            unavailable: 0,
            first_unavailable: None,
        });
        self.documents.last_mut().expect("one")
    }

    fn record(&mut self, attempt: u32, stage: Stage) -> &mut Record {
        let job = self.job("n1", attempt, &attempt.to_string());
        self.records.push(Record {
            job,
            started_unix_ms: SUBMITTED + 60_000,
            reference_unix_ms: Some(SUBMITTED + 59_000),
            stage,
        });
        self.records.last_mut().expect("one")
    }

    fn queued(&mut self, batch: u32, phase: Phase, reason: &str) {
        let queued =
            Queued { host: "n1".into(), batch, repetition: 1, phase, reason: reason.into() };
        match &mut self.queue {
            Queue::Jobs(jobs) => jobs.push(queued),
            _ => panic!("no queue"),
        }
    }

    fn standing(&self) -> Standing {
        let expected = ExpectedJobs::from_submission(&self.submission);
        let (mut documents, mut records) = (Documents::default(), Records::default());
        for document in &self.documents {
            documents.take_document(&expected, document);
        }
        for record in &self.records {
            records.take_record(&expected, record.clone());
        }
        standing(Evidence {
            expected: &expected,
            batches: &self.batches,
            queue: &self.queue,
            documents,
            unreadable: &[],
            records,
            now_unix_ms: self.now,
        })
    }

    /// What is concluded of n1.
    fn n1(&self) -> (JobState, String) {
        let standing = self.standing();
        assert_eq!(standing.complete, standing.jobs[0].state == JobState::Done);
        assert_eq!(standing.jobs[1].state, JobState::Done, "n2 is not affected");
        let job = &standing.jobs[0];
        (job.state, job.reason.clone().unwrap_or_default())
    }

    fn outcome(&mut self, outcome: Outcome) {
        self.batches.get_mut("n1").expect("n1")[0].outcome = outcome;
    }
}

fn refused(why: Refusal) -> Stage {
    Stage::Refused { why, text: "busy".into() }
}

#[test]
fn a_document_makes_a_job_done_whatever_slurm_says() {
    let mut scene = Scene::new();
    scene.made_document("n1", 1, "a");
    scene.queued(1, Phase::Ended("NODE_FAIL".into()), "");
    assert_eq!(scene.n1(), (JobState::Done, String::new()));
    scene.queue = Queue::Silent("down".into());
    assert_eq!(scene.n1().0, JobState::Done);
    assert_eq!(scene.standing().queue_unknown.as_deref(), Some("down"));
}

#[test]
fn without_a_document_a_job_that_slurm_calls_completed_is_lost() {
    let mut scene = Scene::new();
    scene.queued(1, Phase::Ended("COMPLETED".into()), "");
    let lost = "it never began; Slurm: COMPLETED";
    assert_eq!(scene.n1(), (JobState::Lost, lost.into()));
    scene.queue = Queue::Jobs(Vec::new());
    let lost = "it never began, and Slurm has no job for it";
    assert_eq!(scene.n1(), (JobState::Lost, lost.into()));
    scene.record(1, Stage::Started);
    let lost = "it began and did not finish, and Slurm has no job for it";
    assert_eq!(scene.n1(), (JobState::Lost, lost.into()));
    scene.record(1, Stage::Finished);
    assert!(scene.n1().1.contains("its document is gone"));
}

#[test]
fn a_job_in_the_queue_waits_runs_or_was_requeued() {
    let mut scene = Scene::new();
    scene.queued(1, Phase::Pending, "Resources");
    assert_eq!(scene.n1(), (JobState::Waiting, "Resources".into()));
    scene.record(1, Stage::Started);
    assert_eq!(scene.n1(), (JobState::Requeued, "Resources".into()));
    scene.queue = Queue::Jobs(Vec::new());
    scene.queued(1, Phase::Running, "");
    assert_eq!(scene.n1(), (JobState::Running, String::new()));
}

#[test]
fn what_has_not_come_by_the_deadline_is_lost() {
    let mut scene = Scene::new();
    scene.queued(1, Phase::Pending, "ReqNodeNotAvail");
    scene.now = SUBMITTED + 2 * HOUR;
    assert_eq!(scene.n1().0, JobState::Waiting);
    scene.now += 1;
    let late = "still waiting after 2h: ReqNodeNotAvail";
    assert_eq!(scene.n1(), (JobState::Lost, late.into()));
    // Submitted again, it has its time again.
    scene.batches.get_mut("n1").expect("n1")[0].at_unix_ms += HOUR;
    assert_eq!(scene.n1().0, JobState::Waiting);
    scene.made_document("n1", 1, "a");
    scene.now += 10 * HOUR;
    assert_eq!(scene.n1().0, JobState::Done);
}

#[test]
fn a_refusal_has_its_reason_and_a_later_job_comes_before_it() {
    let mut scene = Scene::new();
    scene.record(1, refused(Refusal::NotQuiet));
    assert_eq!(scene.n1(), (JobState::Refused, "busy".into()));
    assert_eq!(scene.standing().jobs[0].refusal, Some(Refusal::NotQuiet));
    scene.queued(2, Phase::Pending, "Priority");
    assert_eq!(scene.n1(), (JobState::Requeued, "Priority".into()));
    assert_eq!(scene.standing().jobs[0].refusal, None);
    let mut scene = Scene::new();
    scene.outcome(Outcome::Refused("Invalid node name".into()));
    assert_eq!(scene.n1(), (JobState::Refused, "Invalid node name".into()));
}

#[test]
fn a_submission_that_was_killed_is_neither_lost_nor_waiting() {
    let mut scene = Scene::new();
    scene.outcome(Outcome::Intended);
    assert_eq!(scene.n1().0, JobState::NotSubmitted);
    scene.queued(1, Phase::Pending, "Priority");
    assert_eq!(scene.n1().0, JobState::Waiting);
    let mut scene = Scene::new();
    scene.batches.clear();
    assert_eq!(scene.n1().0, JobState::NotSubmitted);
}

#[test]
fn two_executions_count_once_and_are_named() {
    let mut scene = Scene::new();
    scene.made_document("n1", 1, "a").started_unix_ms += 5;
    scene.made_document("n1", 1, "b");
    scene.made_document("n1", 2, "c").partial = Some("interrupted".into());
    let job = scene.standing().jobs[0].clone();
    assert_eq!(job.run.as_deref(), Some("id-b"), "the earlier of one attempt");
    assert_eq!(job.twice, ["id-a"]);
    scene.made_document("n1", 2, "d");
    let job = scene.standing().jobs[0].clone();
    assert_eq!((job.run.as_deref(), job.twice.len()), (Some("id-d"), 2));
    // The same file under another name is no further run.
    let copy = scene.documents.last().expect("one").clone();
    scene.documents.push(copy);
    assert_eq!(scene.standing().jobs[0].twice.len(), 2);
    assert_eq!(scene.standing().foreign, []);
}

#[test]
fn a_document_with_the_id_of_another_job_is_named() {
    let mut scene = Scene::new();
    // That of n2 comes first.
    scene.made_document("n1", 1, "other");
    assert_eq!(scene.n1().0, JobState::Lost);
    let foreign = &scene.standing().foreign[0];
    assert_eq!(foreign.file, "n1.1.other");
    assert_eq!(foreign.reason, "it has the id of results/n2.1.other");
}

#[test]
fn an_interrupted_run_does_not_count() {
    let mut scene = Scene::new();
    scene.made_document("n1", 1, "a").partial = Some("interrupted".into());
    scene.record(1, Stage::Finished);
    scene.queued(1, Phase::Ended("TIMEOUT".into()), "");
    let lost = "it was interrupted (interrupted); Slurm: TIMEOUT";
    assert_eq!(scene.n1(), (JobState::Lost, lost.into()));
}

#[test]
fn documents_of_other_jobs_are_foreign_and_another_program_is_refused() {
    let mut scene = Scene::new();
    scene.made_document("n9", 1, "a");
    scene.made_document("n1", 1, "b").job.as_mut().expect("a job").digest = "0".into();
    scene.made_document("n1", 1, "c").job = None;
    scene.made_document("n1", 1, "d").job.as_mut().expect("a job").repetition = 2;
    assert_eq!(scene.n1().0, JobState::Lost);
    let foreign = scene.standing().foreign;
    let reasons: Vec<&str> = foreign.iter().map(|one| &*one.reason).collect();
    let another =
        format!("it is of another campaign of this name (0, not {})", scene.submission.digest);
    let expected = [
        "host \"n9\" is not in the campaign",
        &another,
        "it is of no campaign",
        "there is no repetition 2",
    ];
    assert_eq!(reasons, expected);
    scene.made_document("n1", 1, "e").version = "2".into();
    let refused = "measured by latlas 2; the campaign's is 1";
    assert_eq!(scene.n1(), (JobState::Refused, refused.into()));
    assert_eq!(scene.standing().jobs[0].refusal, Some(Refusal::Program));
    assert_eq!(scene.standing().foreign.len(), 4);
    scene.made_document("n1", 1, "f");
    assert_eq!(scene.n1().0, JobState::Done);
    let foreign = scene.standing().foreign;
    assert_eq!((foreign.len(), &*foreign[4].reason), (5, refused));
}

#[test]
fn a_clock_that_is_off_is_named_and_its_run_counts() {
    let off = |scene: &Scene| scene.standing().jobs[0].clock_off_s;
    let mut scene = Scene::new();
    scene.made_document("n1", 1, "a").started_unix_ms += HOUR;
    assert_eq!(off(&scene), None, "it may have waited for an hour");
    scene.now = SUBMITTED + 120_000;
    assert_eq!(off(&scene), Some(3541.0), "it ends after now");
    assert_eq!(scene.n1().0, JobState::Done);
    scene.documents[1].started_unix_ms = SUBMITTED - HOUR;
    assert_eq!(off(&scene), Some(-3600.0), "it began before it was submitted");
    scene.record(1, Stage::Finished);
    assert_eq!(off(&scene), None, "the record has both clocks");
    scene.records[0].started_unix_ms += HOUR;
    assert_eq!(off(&scene), Some(3601.0));
}

#[test]
fn slurm_that_does_not_answer_is_no_loss_before_the_deadline() {
    let mut scene = Scene::new();
    scene.queue = Queue::Silent("down".into());
    assert_eq!(scene.n1(), (JobState::Waiting, "Slurm does not answer".into()));
    scene.record(1, Stage::Started);
    assert_eq!(scene.n1().0, JobState::Running);
    scene.now = SUBMITTED + 3 * HOUR;
    assert_eq!(scene.n1().0, JobState::Lost);
}

#[test]
fn over_ssh_the_submitting_process_is_the_queue() {
    let mut scene = Scene::new();
    scene.submission = submission("ssh");
    scene.documents.clear();
    scene.made_document("n2", 1, "other");
    scene.batches.clear();
    scene.queue = Queue::Idle;
    assert_eq!(scene.n1().0, JobState::NotSubmitted);
    scene.queue = Queue::Driven;
    assert_eq!(scene.n1().0, JobState::Waiting);
    scene.record(1, Stage::Started);
    assert_eq!(scene.n1().0, JobState::Running);
    scene.queue = Queue::Idle;
    assert_eq!(
        scene.n1(),
        (
            JobState::Lost,
            "`latlas fleet submit` ended before the job: submit again to copy its result".into()
        )
    );
    let text = "timed out after 2s";
    scene.record(1, Stage::TimedOut { text: text.into() });
    assert_eq!(scene.n1(), (JobState::Lost, text.into()));
    scene.queue = Queue::Driven;
    assert_eq!(scene.n1().0, JobState::Lost);
    scene.queue = Queue::Idle;
    scene.record(2, refused(Refusal::Unreachable));
    assert_eq!(scene.n1().0, JobState::Refused);
}
