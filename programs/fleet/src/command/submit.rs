//! `latlas fleet submit`: hands the jobs to Slurm, or runs them over ssh.

use super::plan::{Planned, planned};
use super::{named, status};
use crate::arguments::{CampaignOptions, SubmitOptions};
use anyhow::Context;
use fleet::campaign::Engine;
use fleet::ssh::{self, HostEvent};
use fleet::submit::{self, Submitted};
use latlas::{UNRELIABLE, output};
use meter::probe::Probe;
use model::phrases::counted;
use signal_hook::iterator::Signals;
use std::process::ExitCode;

pub(super) fn submit(catalogue: &[Probe], options: &SubmitOptions) -> anyhow::Result<ExitCode> {
    let Planned { directory, submission, program, .. } = planned(catalogue, &options.campaign)?;
    directory.make()?;
    let lock = directory.lock()?;
    let submission = directory.begin_submission(submission)?;
    let staged = directory.stage(&program, &submission.program.digest)?;
    named::remember(&submission.campaign.name, &directory)?;
    match submission.campaign.engine {
        Engine::Slurm => {
            let submitted = submit::by_slurm(&directory, &submission, options.again, &lock)?;
            output::print_json_or(options.json, &submitted, || {
                submitted_text(&submitted, options)
            })?;
            Ok(match submitted.refused.is_empty() {
                true => ExitCode::SUCCESS,
                false => ExitCode::from(UNRELIABLE),
            })
        }
        Engine::Ssh => {
            explain_signals(&options.campaign)?;
            let how = (usize::from(options.jobs), options.again);
            ssh::run_missing(&directory, &submission, how, &staged, &report)?;
            // The state of the jobs is not that of a submission that runs.
            drop(lock);
            let standing = submit::look(&directory, &submission)?;
            status::show(&standing, options.json)?;
            Ok(status::exit_code(&standing))
        }
    }
}

/// A request to end (Ctrl-C, SIGTERM, SIGHUP) ends `submit` alone, and this is printed.
fn explain_signals(campaign: &CampaignOptions) -> anyhow::Result<()> {
    let mut signals =
        Signals::new(sys::stop::requests()).context("can't install a signal handler")?;
    let file = campaign.file.display().to_string();
    let listening = sys::thread::spawn(std::thread::Builder::new(), move || {
        for signal in signals.forever() {
            output::message(format_args!(
                "interrupted: jobs that began continue on their hosts; latlas fleet submit {file} copies their results"
            ));
            // It ends the process.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    listening.map(drop).context("can't start a thread")
}

fn submitted_text(submitted: &Submitted, options: &SubmitOptions) -> String {
    let mut text = format!("submitted {}", counted(submitted.accepted, "job"));
    if submitted.known > 0 {
        text += &format!("; {} submitted before", counted(submitted.known, "job"));
    }
    text.push('\n');
    for (host, why) in &submitted.refused {
        text += &format!("{host}: refused by Slurm: {}\n", output::harmless(why));
    }
    text + &format!("latlas fleet status {}\n", options.campaign.file.display())
}

fn report(event: HostEvent) {
    match event {
        HostEvent::Begins { host, repetition } => {
            output::message(format_args!("{host}: repetition {repetition} begins"));
        }
        HostEvent::Done { host, repetition } => {
            output::message(format_args!("{host}: repetition {repetition} done"));
        }
        HostEvent::Failed { host, reason } => {
            output::message(format_args!("{host}: {}", output::harmless(&reason)));
        }
    }
}
