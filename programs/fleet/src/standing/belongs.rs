//! Whether a document is one of the campaign's jobs.

use super::JobDocument;
use crate::submission::Submission;
use model::campaign::Job;
use model::phrases::cut;
use std::collections::HashMap;

/// The jobs that a campaign expects.
#[derive(Debug)]
pub struct ExpectedJobs<'a> {
    /// What was submitted.
    pub submission: &'a Submission,
    hosts: HashMap<&'a str, usize>,
}

impl<'a> ExpectedJobs<'a> {
    /// The jobs of a submission.
    pub fn from_submission(submission: &'a Submission) -> ExpectedJobs<'a> {
        let hosts = submission.hosts.iter().enumerate();
        ExpectedJobs { submission, hosts: hosts.map(|(at, host)| (host.as_str(), at)).collect() }
    }

    /// Host and repetition of each job, in the order of [`Standing::jobs`](super::Standing::jobs).
    pub fn jobs(&self) -> impl Iterator<Item = (&'a str, u32)> + use<'a> {
        let repetitions = self.submission.campaign.repetitions;
        let hosts = self.submission.hosts.iter();
        hosts.flat_map(move |host| (1..=repetitions).map(|repetition| (host.as_str(), repetition)))
    }

    /// The place of a job among all.
    pub(super) fn place(&self, host: &str, repetition: u32) -> Option<usize> {
        let repetitions = self.submission.campaign.repetitions;
        let host = self.hosts.get(host)?;
        (1..=repetitions)
            .contains(&repetition)
            .then(|| host * repetitions as usize + repetition as usize - 1)
    }

    /// The job of a document and its place, or why it is none.
    pub(super) fn job<'d>(&self, document: &'d JobDocument) -> Result<(&'d Job, usize), NotOurs> {
        let submission = self.submission;
        let Some(job) = &document.job else {
            return Err(NotOurs::Foreign("it is of no campaign".into()));
        };
        let program = &submission.program;
        let foreign = |reason: String| Err(NotOurs::Foreign(reason));
        if job.campaign != submission.campaign.name {
            return foreign(format!("it is of campaign {:?}", cut(&job.campaign)));
        }
        if job.digest != submission.digest {
            let (now, then) = (&submission.digest, &job.digest);
            return foreign(format!("it is of another campaign of this name ({then}, not {now})"));
        }
        if !self.hosts.contains_key(&*job.host) {
            return foreign(format!("host {:?} is not in the campaign", cut(&job.host)));
        }
        let Some(place) = self.place(&job.host, job.repetition) else {
            return foreign(format!("there is no repetition {}", job.repetition));
        };
        if (&document.version, &document.commit) == (&program.version, &program.commit) {
            return Ok((job, place));
        }
        let named = |version: &str, commit: &Option<String>| match commit {
            Some(commit) => format!("{version} ({commit})"),
            None => version.to_owned(),
        };
        let its = named(&document.version, &document.commit);
        let ours = named(&program.version, &program.commit);
        let text = format!("measured by latlas {its}; the campaign's is {ours}");
        Err(NotOurs::Program(place, text))
    }
}

/// Why a document does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotOurs {
    /// It is of no expected job.
    Foreign(String),
    /// Another program measured the expected job of this place.
    Program(usize, String),
}
