//! The state of a job without a whole document, and why.

use super::records::KnownRecord;
use super::{Evidence, JobState, Phase, Queue, Queued};
use crate::campaign::Engine;
use crate::record::{Refusal, Stage};
use crate::submission::{Batch, Outcome};

/// What is known of a job without a whole document.
pub(super) struct Missing<'a> {
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) batch: Option<&'a Batch>,
    pub(super) latest: Option<&'a KnownRecord>,
    pub(super) queued: &'a [&'a Queued],
    pub(super) other_program: Option<&'a str>,
    pub(super) partial: Option<&'a str>,
}

impl Missing<'_> {
    pub(super) fn state(&self) -> (JobState, String, Option<Refusal>) {
        let began = self.latest.is_some();
        let plain = |state: JobState, reason: &str| (state, reason.to_owned(), None);
        // A later batch is asked about first.
        let live = self.queued.iter().filter(|job| !matches!(job.phase, Phase::Ended(_)));
        if let Some(job) = live.max_by_key(|job| job.batch) {
            return match (&job.phase, began) {
                (Phase::Running, _) => plain(JobState::Running, ""),
                (_, true) => plain(JobState::Requeued, &job.reason),
                (_, false) => plain(JobState::Waiting, &job.reason),
            };
        }
        match self.latest.map(|record| &record.stage) {
            Some(Stage::Refused { why, text }) => {
                return (JobState::Refused, text.clone(), Some(*why));
            }
            Some(Stage::TimedOut { text }) => return plain(JobState::Lost, text),
            _ => {}
        }
        if let Some(text) = self.other_program {
            return (JobState::Refused, text.to_owned(), Some(Refusal::Program));
        }
        match (self.evidence.queue, self.evidence.expected.submission.campaign.engine) {
            (Queue::Silent(_), _) if began => {
                return plain(JobState::Running, "it began, and Slurm does not answer");
            }
            (Queue::Silent(_), _) if self.is_accepted() => {
                return plain(JobState::Waiting, "Slurm does not answer");
            }
            (Queue::Driven, _) if began => return plain(JobState::Running, ""),
            (Queue::Driven, _) => return plain(JobState::Waiting, "other hosts come first"),
            (Queue::Idle, _) | (_, Engine::Ssh) if !began => {
                return plain(JobState::NotSubmitted, "run `latlas fleet submit` again");
            }
            _ => {}
        }
        match self.batch.map(|batch| &batch.outcome) {
            Some(Outcome::Refused(text)) => {
                return (JobState::Refused, text.clone(), Some(Refusal::Scheduler));
            }
            None | Some(Outcome::Intended) if !began && self.queued.is_empty() => {
                return plain(JobState::NotSubmitted, "run `latlas fleet submit` again");
            }
            _ => {}
        }
        (JobState::Lost, self.lost(), None)
    }

    fn is_accepted(&self) -> bool {
        self.batch.is_some_and(|batch| batch.outcome == Outcome::Accepted)
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
            (None, Some(_)) if self.evidence.expected.submission.campaign.engine == Engine::Ssh => {
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
    pub(super) fn by_deadline(&self, state: JobState, reason: String) -> (JobState, String) {
        let submission = self.evidence.expected.submission;
        if submission.campaign.engine == Engine::Ssh {
            return (state, reason);
        }
        let deadline = submission.campaign.deadline;
        let since = self.batch.map_or(submission.submitted_unix_ms, |batch| batch.at_unix_ms);
        let end = since.saturating_add(deadline.0.as_millis() as u64);
        let was = match state {
            JobState::Running => "running",
            JobState::Requeued => "requeued",
            JobState::Waiting => "waiting",
            _ => return (state, reason),
        };
        match self.evidence.now_unix_ms > end {
            true => {
                let reason = Some(reason).filter(|reason| !reason.is_empty());
                let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
                let deadline = String::from(deadline);
                (JobState::Lost, format!("still {was} after {deadline}{reason}"))
            }
            false => (state, reason),
        }
    }
}
