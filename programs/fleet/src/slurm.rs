//! Slurm: a batch of jobs for each host by sbatch, the queue by squeue, hosts by sinfo.

use crate::child::{self, CaptureLimits, ChildResult};
use crate::directory::{Directory, program_name};
use crate::standing::{Phase, Queue, Queued};
use crate::submission::{Batch, Outcome, Submission};
use crate::{FleetError, crash};
use model::phrases::cut;
use std::collections::BTreeSet;
use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Time to wait for Slurm's answer.
const LIMITS: CaptureLimits = CaptureLimits { time: Duration::from_secs(60), bytes: 256 << 20 };

/// Name of the campaign's jobs in Slurm.
pub fn job_name(submission: &Submission) -> String {
    let (name, digest) = (&submission.campaign.name, &submission.digest);
    format!("latlas-{name}-{}", digest.get(..8).unwrap_or(digest))
}

/// The jobs of a campaign, also those that ended a short time ago.
pub fn queue(submission: &Submission) -> Queue {
    let name = format!("--name={}", job_name(submission));
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--array", "--states=all", "--format=%k|%K|%T|%r"]);
    match ask("squeue", command.arg(name), Stdio::null()) {
        Ok(out) => Queue::Jobs(jobs(&out)),
        Err(error) => Queue::Silent(error.to_string()),
    }
}

/// Reads any text as the output of squeue, and of sinfo with a constraint before the first zero
/// byte, for the fuzzer.
#[doc(hidden)]
pub fn anything(text: &str) -> (Vec<Queued>, Result<Vec<String>, FleetError>) {
    let (constraint, out) = text.split_once('\0').unwrap_or(("", text));
    let constraint = Some(constraint).filter(|constraint| !constraint.is_empty());
    (jobs(out), listed(out, constraint))
}

/// What squeue prints. Lines of other jobs are left out.
fn jobs(out: &str) -> Vec<Queued> {
    out.lines().filter_map(queued).collect()
}

/// A line of squeue: comment, task of the array, state, reason.
fn queued(line: &str) -> Option<Queued> {
    let mut fields = line.trim().split('|');
    let (host, batch) = fields.next()?.rsplit_once('#')?;
    let repetition = fields.next()?.parse().ok()?;
    let state = fields.next()?;
    let phase = match state {
        "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" => Phase::Pending,
        "RUNNING" | "COMPLETING" | "CONFIGURING" | "STAGE_OUT" | "SUSPENDED" | "STOPPED"
        | "SIGNALING" | "RESIZING" => Phase::Running,
        ended => Phase::Ended(ended.to_owned()),
    };
    let reason = fields.next().unwrap_or_default();
    Some(Queued {
        host: host.to_owned(),
        batch: batch.parse().ok()?,
        repetition,
        phase,
        reason: if reason == "None" { String::new() } else { reason.to_owned() },
    })
}

/// The hosts of a partition that have the features, as sinfo lists them.
///
/// # Errors
/// What sinfo says; features that only Slurm can evaluate.
pub fn hosts(partition: &str, constraint: Option<&str>) -> Result<Vec<String>, FleetError> {
    let partition = format!("--partition={partition}");
    let mut command = Command::new("sinfo");
    command.args(["--noheader", "--Node", "--format=%N|%f"]);
    let out = ask("sinfo", command.arg(partition), Stdio::null())?;
    listed(&out, constraint)
}

/// The hosts that sinfo prints, each once: name, and its features after `|`.
fn listed(out: &str, constraint: Option<&str>) -> Result<Vec<String>, FleetError> {
    let (mut hosts, mut known) = (Vec::new(), BTreeSet::new());
    for line in out.lines() {
        let (host, features) = line.trim().split_once('|').unwrap_or((line.trim(), ""));
        let features: BTreeSet<&str> = features.split(',').collect();
        let fits = constraint.map_or(Ok(true), |constraint| fits(constraint, &features))?;
        if fits && known.insert(host) {
            hosts.push(host.to_owned());
        }
    }
    Ok(hosts)
}

/// Whether features meet a constraint: names with `&`, and `|` between such groups.
fn fits(constraint: &str, features: &BTreeSet<&str>) -> Result<bool, FleetError> {
    if constraint.contains(|c: char| "[]()*,".contains(c)) {
        return Err(FleetError::Command {
            command: "constraint",
            reason: format!(
                "{:?}: only names with & and | can be expanded to hosts; name the hosts",
                cut(constraint)
            ),
        });
    }
    let mut groups = constraint.split('|');
    Ok(groups.any(|group| group.split('&').all(|name| features.contains(name.trim()))))
}

/// Writes the script of the jobs. sbatch gives it the host and the number of the first attempt.
pub(crate) fn write_script(
    directory: &Directory,
    submission: &Submission,
) -> Result<(), FleetError> {
    let path = directory.path().join("job.sh");
    let quoted = format!("'{}'", directory.path().display().to_string().replace('\'', "'\\''"));
    let program = program_name(&submission.program.digest);
    let text = format!(
        "#!/bin/sh\n\
         # Written by `latlas fleet submit`. $1: the host, $2: the number of the first attempt.\n\
         dir={quoted}\n\
         # When the controller started the job, by its clock.\n\
         at=$(SLURM_TIME_FORMAT=%s timeout 20 squeue --noheader --jobs=\"$SLURM_JOB_ID\" --format=%S | head -n 1)\n\
         case $at in ''|*[!0-9]*) at= ;; esac\n\
         exec \"$dir/{program}\" fleet job \"$dir\" --host \"$1\" --repetition \"$SLURM_ARRAY_TASK_ID\" \
         --attempt \"$(($2 + ${{SLURM_RESTART_COUNT:-0}}))\" ${{at:+--reference \"$at\"}}\n"
    );
    Ok(store::replace(text.as_bytes(), &path)?)
}

/// Submits a batch. The lock is given to sbatch as its standard input: should this process be killed,
/// the next submission waits until sbatch has ended, and then finds its jobs.
pub(crate) fn submit(
    directory: &Directory,
    submission: &Submission,
    (host, batch): (&str, &Batch),
    lock: &File,
) -> Result<Outcome, FleetError> {
    let campaign = &submission.campaign;
    let tasks: Vec<String> = batch.repetitions.iter().map(u32::to_string).collect();
    let log = directory.log().join(format!("{}.%a.%A.txt", host.replace('%', "%%")));
    let mut command = Command::new("sbatch");
    command
        .args(["--parsable", "--exclusive", "--requeue", "--open-mode=append"])
        .arg(format!("--array={}%1", tasks.join(",")))
        .arg(format!("--nodelist={host}"))
        .arg(format!("--job-name={}", job_name(submission)))
        .arg(format!("--comment={host}#{}", batch.number))
        .arg(format!("--output={}", log.display()))
        .arg(format!("--chdir={}", directory.path().display()));
    let of_campaign = [
        ("partition", campaign.partition.clone()),
        ("constraint", campaign.constraint.clone()),
        ("time", campaign.time_limit.map(|time| minutes(time.0))),
    ];
    for (option, value) in of_campaign {
        if let Some(value) = value {
            command.arg(format!("--{option}={value}"));
        }
    }
    command
        .args(&campaign.sbatch)
        .arg(directory.path().join("job.sh"))
        .arg(host)
        .arg(batch.first_attempt.to_string());
    let held = lock.try_clone().map_err(FleetError::io("read", directory.path()))?;
    let ended = started("sbatch", child::run_to_end(&mut command, held.into(), LIMITS))?;
    crash::point("batch submitted");
    match (ended.ok, ended.code) {
        (true, _) => Ok(Outcome::Accepted),
        (false, Some(_)) if !is_silence(&ended.message) => {
            Ok(Outcome::Refused(without("sbatch", &ended.message)))
        }
        _ => Err(FleetError::Command {
            command: "sbatch",
            reason: without("sbatch", &ended.message),
        }),
    }
}

/// Messages of a controller that can't be reached: whether it took the jobs is not known.
fn is_silence(message: &str) -> bool {
    ["Unable to contact slurm controller", "timed out", "Connection refused", "Socket"]
        .iter()
        .any(|part| message.contains(part))
}

/// Minutes, as `sbatch --time` has them.
fn minutes(time: Duration) -> String {
    time.as_secs().div_ceil(60).max(1).to_string()
}

fn started(
    command: &'static str,
    ended: std::io::Result<ChildResult>,
) -> Result<ChildResult, FleetError> {
    ended.map_err(|why| FleetError::Command {
        command,
        reason: match why.kind() {
            std::io::ErrorKind::NotFound => {
                "not found: is this a host of the cluster? (over ssh: --hosts FILE)".into()
            }
            _ => why.to_string(),
        },
    })
}

/// What a command of Slurm prints.
fn ask(name: &'static str, command: &mut Command, input: Stdio) -> Result<String, FleetError> {
    let ended = started(name, child::run_to_end(command, input, LIMITS))?;
    match ended.ok {
        true => Ok(String::from_utf8_lossy(&ended.out).into_owned()),
        false => Err(FleetError::Command { command: name, reason: without(name, &ended.message) }),
    }
}

/// A message without the name of the command, which comes before it.
fn without(name: &str, message: &str) -> String {
    let message = message.trim_start_matches(name).trim_start_matches(": ");
    let kind = message.trim_start_matches("fatal: ");
    kind.trim_start_matches("error: ").to_owned()
}

/// Writes what the script of the jobs needs.
pub(crate) fn prepare(directory: &Directory, submission: &Submission) -> Result<(), FleetError> {
    if directory.path().to_str().is_none() || directory.path().display().to_string().contains('%') {
        let reason = "the name of a campaign's directory must be UTF-8 without %";
        return Err(FleetError::in_file(directory.path(), reason));
    }
    write_script(directory, submission)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue() {
        let of = |line| queued(line).expect(line);
        let waiting = of("n1#2|3|PENDING|ReqNodeNotAvail, UnavailableNodes:n1\n");
        assert_eq!((&*waiting.host, waiting.batch, waiting.repetition), ("n1", 2, 3));
        assert_eq!(waiting.phase, Phase::Pending);
        assert_eq!(waiting.reason, "ReqNodeNotAvail, UnavailableNodes:n1");
        let running = of("a#b#1|1|RUNNING|None");
        assert_eq!((&*running.host, running.phase, &*running.reason), ("a#b", Phase::Running, ""));
        assert_eq!(of("n1#1|1|NODE_FAIL|x").phase, Phase::Ended("NODE_FAIL".into()));
        for other in ["", "(null)|N/A|RUNNING|None", "n1#1|N/A|RUNNING|None"] {
            assert_eq!(queued(other), None, "{other}");
        }
    }

    #[test]
    fn features_of_a_constraint() {
        let features = BTreeSet::from(["epyc", "ib"]);
        let of = |text| fits(text, &features).ok();
        assert_eq!(of("epyc"), Some(true));
        assert_eq!(of("epyc&gpu"), Some(false));
        assert_eq!(of("gpu|epyc&ib"), Some(true));
        assert_eq!(of("[rack1|rack2]"), None);
    }

    #[test]
    fn a_host_of_two_partitions_is_listed_once() {
        let out = "n2|epyc,ib\nn1|epyc\nn2|epyc,ib\nn3|gpu\n";
        let of = |constraint| listed(out, constraint).expect("hosts");
        assert_eq!(of(Some("epyc")), ["n2", "n1"]);
        assert_eq!(of(None), ["n2", "n1", "n3"]);
    }

    #[test]
    fn times_are_whole_minutes() {
        let of = |s| minutes(Duration::from_secs(s));
        assert_eq!([of(1), of(60), of(61)], ["1", "1", "2"]);
    }
}
