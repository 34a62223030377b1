//! `latlas fleet plan`: what a campaign would do.

use crate::arguments::CampaignOptions;
use anyhow::{anyhow, bail};
use clap::FromArgMatches;
use fleet::campaign::{Campaign, Engine};
use fleet::directory::Directory;
use fleet::submission::{ProgramFile, Submission};
use fleet::{directory, hosts};
use latlas::arguments::{self, Arguments, Command, RunOptions};
use latlas::command::run;
use latlas::{catalogue, output};
use meter::plan::Plan;
use meter::probe::Probe;
use model::figure;
use model::story::{Block, Cell, Table, left, right};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A campaign that may be submitted.
pub(super) struct Planned {
    pub(super) directory: Directory,
    pub(super) submission: Submission,
    /// The program on this machine.
    pub(super) program: PathBuf,
    /// A job as it would be here.
    pub(super) plan: Plan,
}

/// Prints hosts, jobs and times.
pub(super) fn plan(
    catalogue: &[Probe],
    options: &CampaignOptions,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let planned = planned(catalogue, options)?;
    let value = planned.json();
    output::print_json_or(json, &value, || output::plain(&planned.blocks()))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn planned(catalogue: &[Probe], options: &CampaignOptions) -> anyhow::Result<Planned> {
    let file = &options.file;
    let mut campaign = Campaign::read_file(file)?;
    if let Some(hosts) = &options.hosts {
        campaign.over_ssh(fleet::hosts::of_file(hosts)?);
    }
    let arguments = campaign.arguments();
    // The file has keys in place of options.
    let in_file = |why: anyhow::Error| {
        anyhow!("{}: {}", file.display(), format!("{why:#}").replace("'--", "'"))
    };
    run_options(&arguments).map_err(in_file)?;
    let (patterns, here) = run_options(&campaign.arguments_of_any_machine()).map_err(in_file)?;
    let texts = catalogue::texts(catalogue);
    let (request, machine) = run::request_alone(&texts, &patterns, &here).map_err(in_file)?;
    let plan =
        meter::plan::plan(catalogue, &request, &machine).map_err(|why| in_file(why.into()))?;
    let named = campaign.program.as_ref().map(|program| of_file(file, program));
    let program = named.map_or_else(own_program, Ok)?;
    let directory = Directory::at(&campaign.directory(file));
    let this = latlas::program::program(&machine);
    let submission = Submission {
        digest: campaign.digest(),
        hosts: hosts::campaign_hosts(&campaign, file)?,
        program: ProgramFile {
            digest: directory::digest(&program)?,
            version: this.version,
            commit: this.commit,
        },
        arguments,
        submitted_unix_ms: sys::clock::realtime_unix_ms(),
        campaign,
    };
    Ok(Planned { directory, submission, program, plan })
}

/// A path from the directory of the campaign's file.
fn of_file(file: &Path, path: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(path)
}

fn own_program() -> anyhow::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() { Ok(running.to_owned()) } else { Ok(std::env::current_exe()?) }
}

/// What `latlas run` would make of the arguments.
pub(super) fn run_options(given: &[String]) -> anyhow::Result<(Vec<String>, RunOptions)> {
    let words = ["latlas", "run"].into_iter().map(str::to_owned);
    let matches = arguments::command().try_get_matches_from(words.chain(given.iter().cloned()));
    let parsed = matches.and_then(|matches| Arguments::from_arg_matches(&matches));
    let parsed = parsed.map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        anyhow!("{}", line.trim_start_matches("error: "))
    })?;
    match parsed.command {
        Some(Command::Run { rows, options }) => Ok((rows, options)),
        _ => bail!("these are not options of `latlas run`"),
    }
}

impl Planned {
    fn jobs(&self) -> usize {
        self.submission.hosts.len() * self.submission.campaign.repetitions as usize
    }

    fn rows(&self) -> Vec<&str> {
        let mut rows: Vec<&str> = self.plan.cells.iter().map(|cell| &*cell.row).collect();
        rows.dedup();
        rows
    }

    fn json(&self) -> serde_json::Value {
        let (submission, campaign) = (&self.submission, &self.submission.campaign);
        serde_json::json!({
            "campaign": campaign.name,
            "digest": submission.digest,
            "engine": campaign.engine,
            "directory": self.directory.path(),
            "hosts": submission.hosts,
            "repetitions": campaign.repetitions,
            "jobs": self.jobs(),
            "rows": self.rows(),
            "job_seconds": self.plan.total().as_secs_f64(),
            "arguments": submission.arguments,
            "program": submission.program,
        })
    }

    fn blocks(&self) -> Vec<Block> {
        let (submission, campaign) = (&self.submission, &self.submission.campaign);
        let rows = self.rows();
        let job_s = self.plan.total().as_secs_f64();
        let engine = match campaign.engine {
            Engine::Slurm => "Slurm, a batch of jobs for each host",
            Engine::Ssh => "ssh, one job after the other on each host",
        };
        let each = model::phrases::counted(campaign.repetitions as usize, "repetition");
        let hosts = model::phrases::counted(submission.hosts.len(), "host");
        let mut blocks = vec![
            Block::fact("campaign", format!("{} ({})", campaign.name, submission.digest)),
            Block::fact("engine", engine),
            Block::fact("directory", self.directory.path().display().to_string()),
            Block::fact("jobs", format!("{} ({hosts}, {each})", self.jobs())),
            Block::fact("rows", model::phrases::counted(rows.len(), "row")),
            Block::fact(
                "time",
                format!(
                    "{} a job as planned on this machine, {} a host",
                    figure::time(job_s * 1e9),
                    figure::time(job_s * 1e9 * f64::from(campaign.repetitions))
                ),
            ),
            Block::fact(
                "command",
                format!("latlas run {}", submission.arguments.join(" ")).trim_end(),
            ),
            Block::empty_line(),
        ];
        let mut table = Table::new([left("host"), right("jobs")]);
        for host in &submission.hosts {
            table.row([Cell::from(host.as_str()), Cell::from(campaign.repetitions.to_string())]);
        }
        blocks.push(Block::Table(table));
        blocks
    }
}
