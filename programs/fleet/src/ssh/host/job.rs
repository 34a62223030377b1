//! One job on a host, and its document.

use super::remote::{COPY, MAX_ANSWER, SHORT, output};
use super::{Failure, Host};
use crate::campaign::Time;
use crate::child::CaptureLimits;
use crate::directory::{program_name, result_name};
use crate::record::{Record, Refusal, Stage};
use crate::standing::JobStanding;
use crate::{FleetError, crash};
use model::campaign::Job;
use model::printable::visible;
use model::run::Run;
use std::process::Stdio;
use std::sync::PoisonError;
use std::time::{Duration, Instant};
use store::Refused;
use store::exchange::import::MAX_FILE_BYTES;

/// Time that a job has to end, once `timeout` on the host asks it to.
const GRACE: Duration = Duration::from_secs(30);

impl Host<'_> {
    /// Runs a job on the host, and copies its document. Returns the host's record, and why the document
    /// is not whole.
    pub(super) fn job(
        &self,
        job: &Job,
        limit: Duration,
    ) -> Result<(Record, Option<String>), Failure> {
        let Job { host, repetition, attempt, nonce, .. } = job;
        let (dir, program) = (self.remote(), program_name(&self.submission.program.digest));
        let now = sys::clock::realtime_unix_ms() / 1000;
        let seconds = limit.as_secs_f64().ceil();
        let command = format!(
            "timeout -k 10 {seconds} {dir}/{program} fleet job {dir} --host {host} --repetition {repetition} \
             --attempt {attempt} --nonce {nonce} --reference {now}"
        );
        let began = Instant::now();
        let limits = CaptureLimits { time: limit + GRACE, bytes: MAX_ANSWER };
        let ended = self.ssh(&command, Stdio::null(), limits)?;
        if !ended.ok && began.elapsed() >= limit {
            let text = format!("timed out after {}", String::from(Time::whole_seconds(limit)));
            let stage = Stage::TimedOut { text: text.clone() };
            return Err(Failure::Job(Some(stage), text));
        }
        // Code 2: it could not write its record.
        let otherwise = match ended.code {
            Some(2) => Refusal::Directory,
            _ => Refusal::Program,
        };
        let out = output(ended, otherwise)?;
        let record: Option<Record> = serde_json::from_slice(&out).ok();
        let result = record.filter(|record| record.job == *job).and_then(|record| {
            let result = match &record.stage {
                Stage::Refused { .. } => None,
                Stage::Finished => Some(result_name(job)),
                // An attempt whose connection broke ended in between.
                Stage::Unneeded { result } if is_result(result, job) => Some(result.clone()),
                _ => return None,
            };
            Some((record, result))
        });
        let (record, result) = result.ok_or_else(|| {
            let version = &self.submission.program.version;
            let text = format!("the program did not return a job record: is it latlas {version}?");
            Failure::Host(Refusal::Program, text)
        })?;
        let partial = result.map(|result| self.fetch(&result, job.repetition));
        let partial = partial.transpose()?;
        Ok((record, partial.flatten()))
    }

    /// Copies a whole document that an earlier attempt left on the host.
    pub(super) fn fetch_earlier(
        &self,
        job: &JobStanding,
        records: &[Record],
    ) -> Result<bool, Failure> {
        let earlier = records.iter().filter(|record| {
            let known = &record.job;
            let refused_there =
                matches!(record.stage, Stage::Refused { why, .. } if why != Refusal::Unreachable);
            known.digest == self.submission.digest
                && (&known.host, known.repetition) == (&job.host, job.repetition)
                && !refused_there
                // One that is here does not count.
                && !self.directory.result(known).exists()
        });
        for record in earlier {
            let result = result_name(&record.job);
            let path = format!("{}/results/{result}", self.remote());
            let ask = format!("test -e {path} && echo yes || true");
            let there = self.shell(&ask, Stdio::null(), SHORT)?;
            if there.starts_with(b"yes") && self.fetch(&result, job.repetition)?.is_none() {
                let mut record = record.clone();
                record.stage = Stage::Finished;
                record.write(self.directory)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Copies a document of a repetition. Returns why it is not whole.
    fn fetch(&self, result: &str, repetition: u32) -> Result<Option<String>, Failure> {
        let path = format!("{}/results/{result}", self.remote());
        let bytes = self.shell(&format!("cat {path}"), Stdio::null(), COPY)?;
        let run = store::from_bytes_within(&bytes, MAX_FILE_BYTES).map_err(|refused| {
            let text = format!("its document did not arrive whole: {refused}");
            match refused {
                Refused::Damaged(_) => Failure::Host(Refusal::Unreachable, text),
                _ => Failure::Host(Refusal::Answer, text),
            }
        })?;
        let forged = self.forged(&run, result, repetition);
        forged.map_or(Ok(()), |text| Err(Failure::Host(Refusal::Answer, text)))?;
        let here = self.directory.results().join(result);
        store::replace(&bytes, &here).map_err(FleetError::from)?;
        crash::point("document copied");
        Ok(run.partial)
    }

    /// Why a document is not the one that this host was asked for. Hosts are believed what they measured,
    /// and nothing about others.
    fn forged(&self, run: &Run, result: &str, repetition: u32) -> Option<String> {
        let host = self.host;
        let is_own = |job: &Job| {
            (&job.campaign, &job.digest)
                == (&self.submission.campaign.name, &self.submission.digest)
                && (&*job.host, job.repetition) == (host, repetition)
                && result_name(job) == result
        };
        match &run.job {
            Some(job) if is_own(job) => {}
            Some(job) => {
                return Some(format!(
                    "host {host} sent a result of another job (host {}, repetition {}, attempt {}): refused",
                    visible(&job.host),
                    job.repetition,
                    job.attempt
                ));
            }
            None => return Some(format!("host {host} sent a run of no campaign: refused")),
        }
        let own = (host.to_owned(), repetition);
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let known = ids.entry(run.id.clone()).or_insert_with(|| own.clone());
        (*known != own).then(|| {
            let (other, id) = (&known.0, &run.id);
            format!(
                "host {host} sent a result with the id {id}, which is that of host {other}: refused"
            )
        })
    }
}

/// Whether a host's text is the name of a document of this job: it becomes part of a path and of a command.
fn is_result(name: &str, job: &Job) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.@:%".contains(c);
    let of_job = format!("{}.{}.", job.host, job.repetition);
    name.starts_with(&of_job) && name.ends_with(".json.zst") && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hosts_answer_names_a_document_of_its_job_and_nothing_else() {
        let job = Job {
            campaign: "lab".into(),
            digest: "d".into(),
            host: "me@n1".into(),
            repetition: 2,
            attempt: 1,
            nonce: "a".into(),
        };
        assert!(is_result(&result_name(&job), &job));
        for name in [
            "me@n2.2.1.a.json.zst",
            "me@n1.2./../../x.json.zst",
            "me@n1.2.1.a;rm.json.zst",
            "me@n1.2.1.a.txt",
        ] {
            assert!(!is_result(name, &job), "{name}");
        }
    }
}
