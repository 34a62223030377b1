//! `latlas fleet job`: what a host runs. It leaves a document or a reason, and prints its record.

use super::plan::run_options;
use crate::arguments::JobOptions;
use anyhow::anyhow;
use fleet::directory::{self, Directory};
use fleet::record::{Record, Refusal, Stage};
use fleet::submission::Submission;
use fleet::{FleetError, hosts, ssh};
use latlas::command::{measured::lock, run};
use latlas::{REFUSED, catalogue, output};
use meter::probe::Probe;
use model::campaign::Job;
use model::share::{limit, percent};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use store::{Output, StoreError};
use sys::cpu_times::CpuTimes;

/// Time over which the use of the CPUs is measured.
const WATCHED: Duration = Duration::from_secs(1);

/// Measures, unless there is a reason not to.
pub(super) fn job(catalogue: &[Probe], options: &JobOptions) -> anyhow::Result<ExitCode> {
    let directory = Directory::at(&std::path::absolute(&options.directory)?);
    let Some(submission) = directory.submitted()? else {
        let path = directory.path().to_owned();
        let reason = "it is not the directory of a campaign".into();
        return Err(FleetError::InFile { path, reason }.into());
    };
    let job = Job {
        campaign: submission.campaign.name.clone(),
        digest: submission.digest.clone(),
        host: hosts::checked(&options.host)?,
        repetition: options.repetition,
        attempt: options.attempt,
        nonce: options.nonce.clone().unwrap_or_else(ssh::nonce),
    };
    let mut record = Record {
        job,
        started_unix_ms: sys::clock::realtime_unix_ms(),
        reference_unix_ms: options.reference.map(|s| s.saturating_mul(1000)),
        stage: Stage::Started,
    };
    directory.make()?;
    record.write(&directory)?;
    record.stage = match measured(catalogue, &directory, &submission, &record.job) {
        Ok(stage) => stage,
        Err(refused) => Stage::Refused {
            why: refused.why,
            text: match refused.why {
                // The campaign's file has keys in place of options.
                Refusal::Controls => format!("{:#}", refused.error).replace(" --", " controls."),
                _ => format!("{:#}", refused.error),
            },
        },
    };
    record.write(&directory)?;
    output::print_json_or(true, &record, String::new)?;
    match &record.stage {
        Stage::Refused { text, .. } => output::message(output::harmless(text)),
        _ => return Ok(ExitCode::SUCCESS),
    }
    // Over ssh the record is the answer; a code would be taken for a failure of the connection.
    Ok(match options.nonce {
        Some(_) => ExitCode::SUCCESS,
        None => ExitCode::from(REFUSED),
    })
}

struct Refused {
    why: Refusal,
    error: anyhow::Error,
}

fn because(why: Refusal) -> impl FnOnce(anyhow::Error) -> Refused {
    move |error| Refused { why, error }
}

fn measured(
    catalogue: &[Probe],
    directory: &Directory,
    submission: &Submission,
    job: &Job,
) -> Result<Stage, Refused> {
    check_program(submission).map_err(because(Refusal::Program))?;
    let result = directory.result(job);
    let output = Output::open(&result).map_err(not_written)?;
    let prepare = || {
        let (patterns, options) = run_options(&submission.arguments)?;
        let texts = catalogue::texts(catalogue);
        let (request, machine) = run::request_alone(&texts, &patterns, &options)?;
        let plan = meter::plan::plan(catalogue, &request, &machine)?;
        let lock = lock("latlas fleet job", Some(plan.total()), options.wait)?;
        Ok((request, plan, machine, options, lock))
    };
    let (request, mut plan, machine, options, lock) =
        prepare().map_err(because(Refusal::Controls))?;
    // Under the lock: an attempt whose connection broke may have been measuring.
    if let Some(result) = there_already(directory, job) {
        return Ok(Stage::Unneeded { result });
    }
    check_quiet(submission).map_err(because(Refusal::NotQuiet))?;
    let measured = run::measured_under(&lock, catalogue, &request, (&mut plan, machine), &options);
    let (mut run, _) = measured.map_err(because(Refusal::Controls))?;
    run.job = Some(job.clone());
    output.write_run(&run).map_err(not_written)?;
    Ok(Stage::Finished)
}

fn not_written(error: StoreError) -> Refused {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    let why = match &error {
        StoreError::Io { cause, .. } if matches!(cause.kind(), StorageFull | QuotaExceeded) => {
            Refusal::DiskFull
        }
        _ => Refusal::Directory,
    };
    let error = error.into();
    Refused { why, error }
}

/// The document that another attempt left: a job that was submitted twice is measured once.
fn there_already(directory: &Directory, job: &Job) -> Option<String> {
    let of_job = format!("{}.{}.", job.host, job.repetition);
    let names = Directory::names(&directory.results()).unwrap_or_default();
    let is_same = |known: &Job| {
        let key = |job: &Job| (job.digest.clone(), job.host.clone(), job.repetition);
        key(known) == key(job)
    };
    let is_whole = |name: &String| {
        let run = store::read_as_it_is(&directory.results().join(name));
        run.is_ok_and(|run| run.partial.is_none() && run.job.as_ref().is_some_and(is_same))
    };
    let mut names = names.into_iter().filter(|name| name.starts_with(&of_job));
    names.find(is_whole)
}

fn check_program(submission: &Submission) -> anyhow::Result<()> {
    let running = Path::new("/proc/self/exe");
    let path = if running.exists() { running.to_owned() } else { std::env::current_exe()? };
    let (own, expected) = (directory::digest(&path)?, &submission.program.digest);
    match own == *expected {
        true => Ok(()),
        false => Err(anyhow!(
            "the program here is not the campaign's: latlas {} with digest {}, not latlas {} with {}",
            env!("CARGO_PKG_VERSION"),
            short(&own),
            submission.program.version,
            short(expected)
        )),
    }
}

fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// Refuses a host whose CPUs are in use.
fn check_quiet(submission: &Submission) -> anyhow::Result<()> {
    let Some(allowed) = submission.campaign.max_busy else {
        return Ok(());
    };
    let before = CpuTimes::now()?.all.unwrap_or_default();
    std::thread::sleep(WATCHED);
    let after = CpuTimes::now()?.all.unwrap_or_default();
    let total = after.total().saturating_sub(before.total());
    let idle = after.idle.saturating_sub(before.idle);
    if total == 0 {
        return Ok(());
    }
    let busy = 1.0 - (idle as f64 / total as f64).min(1.0);
    match busy > allowed.0 {
        false => Ok(()),
        true => Err(anyhow!(
            "not quiet: {} of CPU time in use, at most {} allowed",
            percent(busy),
            limit(allowed.0)
        )),
    }
}
