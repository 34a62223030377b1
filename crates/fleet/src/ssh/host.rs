//! The jobs of one host over ssh: the commands that it runs, and what their failures mean.

use super::{Event, nonce};
use crate::campaign::Time;
use crate::child::{self, Ended};
use crate::directory::{Directory, program_name, result_name};
use crate::journal::Submission;
use crate::record::{Record, Refusal, Stage};
use crate::standing::JobStanding;
use crate::{FleetError, crash};
use model::campaign::Job;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time for a short command on a host.
const SHORT: Duration = Duration::from_secs(60);
/// Time to copy the program or a document.
const COPY: Duration = Duration::from_secs(600);
/// Time that a job has to end, once `timeout` on the host asks it to.
const GRACE: Duration = Duration::from_secs(30);

/// The jobs of one host.
pub(super) struct Host<'a> {
    pub(super) directory: &'a Directory,
    pub(super) submission: &'a Submission,
    pub(super) host: &'a str,
    pub(super) program: &'a Path,
    /// The deadline.
    pub(super) end: Instant,
    pub(super) report: &'a (dyn Fn(Event) + Sync),
}

/// Why a job has no document.
enum Failure {
    /// The host: the jobs after this one would fail in the same way.
    Host(Refusal, String),
    /// This job alone, with the stage of its record if that is not written yet.
    Job(Option<Stage>, String),
    /// This machine.
    Here(FleetError),
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Failure {
        Failure::Here(error)
    }
}

impl Host<'_> {
    pub(super) fn run(&self, jobs: &[&JobStanding], records: &[Record]) -> Result<(), FleetError> {
        let mut failed = self.prepare().err();
        for job in jobs {
            let mut record = self.record(job);
            let (host, repetition) = (self.host.to_owned(), job.repetition);
            let done = match failed.take() {
                Some(failure) => Err(failure),
                None => self.result(job, &mut record, records),
            };
            let (stage, reason) = match done {
                Ok(()) => {
                    (self.report)(Event::Done { host, repetition });
                    continue;
                }
                Err(Failure::Here(error)) => return Err(error),
                Err(Failure::Job(stage, text)) => (stage, text),
                Err(Failure::Host(why, text)) => {
                    failed = Some(Failure::Host(why, text.clone()));
                    (
                        Some(Stage::Refused {
                            why,
                            text: text.clone(),
                        }),
                        text,
                    )
                }
            };
            if let Some(stage) = stage {
                record.stage = stage;
                record.write(self.directory)?;
            }
            (self.report)(Event::Failed { host, reason });
        }
        Ok(())
    }

    /// Copies the document of an earlier attempt, or measures.
    fn result(
        &self,
        job: &JobStanding,
        record: &mut Record,
        records: &[Record],
    ) -> Result<(), Failure> {
        if self.fetch_earlier(job, records)? {
            return Ok(());
        }
        let campaign = &self.submission.campaign;
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let deadline = String::from(campaign.deadline);
            let text = format!(
                "repetition {} not started: the deadline of {deadline} is over",
                job.repetition
            );
            return Err(Failure::Job(None, text));
        }
        (self.report)(Event::Begins {
            host: self.host.to_owned(),
            repetition: job.repetition,
        });
        record.write(self.directory)?;
        let limit = campaign.time_limit.map_or(left, |limit| limit.0.min(left));
        let (of_host, partial) = self.job(&record.job, limit)?;
        *record = of_host;
        record.write(self.directory)?;
        match (&record.stage, partial) {
            (Stage::Refused { text, .. }, _) => Err(Failure::Job(None, text.clone())),
            (_, Some(why)) => Err(Failure::Job(None, format!("it was interrupted ({why})"))),
            (_, None) => Ok(()),
        }
    }

    /// The record of the next attempt at a job.
    fn record(&self, job: &JobStanding) -> Record {
        let now = sys::clock::realtime_unix_ms();
        Record {
            job: Job {
                campaign: self.submission.campaign.name.clone(),
                digest: self.submission.digest.clone(),
                host: self.host.to_owned(),
                repetition: job.repetition,
                attempt: job.attempt.unwrap_or(0) + 1,
                nonce: nonce(),
            },
            started_unix_ms: now,
            reference_unix_ms: None,
            stage: Stage::Started,
        }
    }

    /// Makes the host's directory, and stages the program and what is to be measured.
    fn prepare(&self) -> Result<(), Failure> {
        let (dir, digest) = (self.remote(), &self.submission.program.digest);
        let program = format!("{dir}/{}", program_name(digest));
        let make = format!("mkdir -p {dir}/results {dir}/records");
        let ask = format!("{make} && {{ sha256sum {program} 2>/dev/null || true; }}");
        let known = self.shell(&ask, Stdio::null(), SHORT)?;
        if !known.starts_with(digest.as_bytes()) {
            let file = File::open(self.program).map_err(FleetError::io("read", self.program))?;
            self.put(file, &program, COPY)?;
        }
        let path = self.directory.submission();
        let file = File::open(&path).map_err(FleetError::io("read", &path))?;
        self.put(file, &format!("{dir}/campaign.json"), SHORT)
    }

    /// Writes a file on the host, whole or not at all.
    fn put(&self, file: File, path: &str, limit: Duration) -> Result<(), Failure> {
        // What an attempt before left there.
        let command = format!(
            "rm -f {path}.new.*; cat >{path}.new.$$ && chmod 755 {path}.new.$$ && \
             mv {path}.new.$$ {path} || {{ rm -f {path}.new.$$; exit 1; }}"
        );
        self.shell(&command, file.into(), limit).map(drop)
    }

    /// Runs a job on the host, and copies its document. Returns the host's record, and why the document
    /// is not whole.
    fn job(&self, job: &Job, limit: Duration) -> Result<(Record, Option<String>), Failure> {
        let Job {
            host,
            repetition,
            attempt,
            nonce,
            ..
        } = job;
        let (dir, program) = (self.remote(), program_name(&self.submission.program.digest));
        let now = sys::clock::realtime_unix_ms() / 1000;
        let seconds = limit.as_secs_f64().ceil();
        let command = format!(
            "timeout -k 10 {seconds} {dir}/{program} fleet job {dir} --host {host} --repetition {repetition} \
             --attempt {attempt} --nonce {nonce} --reference {now}"
        );
        let began = Instant::now();
        let ended = self.ssh(&command, Stdio::null(), limit + GRACE)?;
        if !ended.ok && began.elapsed() >= limit {
            let text = format!(
                "timed out after {}",
                String::from(Time::whole_seconds(limit))
            );
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
        let result = record
            .filter(|record| record.job == *job)
            .and_then(|record| {
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
        let partial = result.map(|result| self.fetch(&result)).transpose()?;
        Ok((record, partial.flatten()))
    }

    /// Copies a whole document that an earlier attempt left on the host.
    fn fetch_earlier(&self, job: &JobStanding, records: &[Record]) -> Result<bool, Failure> {
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
            if there.starts_with(b"yes") && self.fetch(&result)?.is_none() {
                let mut record = record.clone();
                record.stage = Stage::Finished;
                record.write(self.directory)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Copies a document. Returns why it is not whole.
    fn fetch(&self, result: &str) -> Result<Option<String>, Failure> {
        let path = format!("{}/results/{result}", self.remote());
        let bytes = self.shell(&format!("cat {path}"), Stdio::null(), COPY)?;
        let run = store::from_bytes(&bytes).map_err(|why| {
            let text = format!("its document did not arrive whole: {why}");
            Failure::Host(Refusal::Unreachable, text)
        })?;
        let here = self.directory.results().join(result);
        store::write_bytes(&bytes, &here).map_err(FleetError::from)?;
        crash::point("document copied");
        Ok(run.partial)
    }

    /// Where the campaign lies in the home directory of the host.
    fn remote(&self) -> String {
        format!(".cache/latlas/fleet/{}", self.submission.digest)
    }

    /// What a command for the host's directory prints, with its messages in English.
    fn shell(&self, command: &str, input: Stdio, limit: Duration) -> Result<Vec<u8>, Failure> {
        let command = format!("export LC_ALL=C; {command}");
        output(self.ssh(&command, input, limit)?, Refusal::Directory)
    }

    /// Runs a command on the host.
    fn ssh(&self, command: &str, input: Stdio, limit: Duration) -> Result<Ended, Failure> {
        let mut ssh = Command::new("ssh");
        ssh.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"])
            .args([
                "-o",
                "ServerAliveInterval=10",
                "-o",
                "ServerAliveCountMax=3",
            ])
            .args(&self.submission.campaign.ssh)
            .args(["--", self.host, command])
            // Ctrl-C is for `submit` alone: it is no failure of the host.
            .process_group(0);
        child::run(&mut ssh, input, limit).map_err(|why| {
            let reason = why.to_string();
            Failure::Here(FleetError::Command {
                command: "ssh",
                reason,
            })
        })
    }
}

/// What a command printed, or why it failed: 255 is ssh's own code.
fn output(ended: Ended, otherwise: Refusal) -> Result<Vec<u8>, Failure> {
    let is_full = |text: &str| {
        let errors = ["No space left on device", "Disk quota exceeded"];
        errors.iter().any(|error| text.contains(error))
    };
    let why = match ended.code {
        Some(0) => return Ok(ended.out),
        None | Some(255) => Refusal::Unreachable,
        _ if is_full(&ended.message) => Refusal::DiskFull,
        _ => otherwise,
    };
    Err(Failure::Host(why, ended.message))
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
