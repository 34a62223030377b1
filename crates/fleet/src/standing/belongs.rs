//! Whether a document is one of the campaign's jobs.

use super::Document;
use crate::journal::Submission;
use model::campaign::Job;

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
