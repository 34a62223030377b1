//! Options of `latlas fleet`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
A campaign measures the same rows on many hosts. Its file names the rows, the hosts and the
repetitions (docs/fleet.md). Slurm runs the jobs; without Slurm, --hosts runs them over ssh.

Examples:
  latlas fleet plan lab.toml                Print hosts, jobs and the time they take
  latlas fleet submit lab.toml              Submit a job for each host to Slurm
  latlas fleet submit lab.toml --hosts hosts.txt -j 4
                                            Run it over ssh, on four hosts at once
  latlas fleet status lab.toml              Print the state of each host
  latlas fleet collect lab.toml             Store the results
  latlas fleet report lab                   Print rows over hosts, and outliers

Exit codes:
  0  done; with status and collect, the campaign is complete
  2  the request can't be carried out
  3  jobs are missing, running or refused, or a result can't be stored";

/// The commands of `latlas fleet`.
#[derive(Subcommand, Debug)]
pub(crate) enum FleetCommand {
    /// Print what a campaign would do
    #[command(after_help = "\
Examples:
  latlas fleet plan lab.toml
  latlas fleet plan lab.toml --json")]
    Plan {
        #[command(flatten)]
        campaign: CampaignOptions,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Submit the jobs to Slurm, or run them over ssh
    #[command(after_help = "\
Can be repeated: only jobs that were never submitted are. Over ssh it runs until all hosts are done.

Examples:
  latlas fleet submit lab.toml
  latlas fleet submit lab.toml --again                  Also jobs that were lost or refused
  latlas fleet submit lab.toml --hosts hosts.txt -j 4   Over ssh

Exit codes:
  0  all jobs are submitted; over ssh, all are done
  2  the request can't be carried out
  3  not all jobs could be submitted; over ssh, not all are done")]
    Submit(SubmitOptions),
    /// Print the state of each host of a campaign
    #[command(after_help = "\
Examples:
  latlas fleet status lab.toml
  latlas fleet status lab --json         By the campaign's name
  latlas fleet status lab --watch        Until it is complete

Exit codes:
  0  complete: every host has all its repetitions
  2  the request can't be carried out
  3  partial; the missing jobs are named")]
    Status {
        #[command(flatten)]
        campaign: NamedCampaign,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print again every 10 s until no job is waiting or running
        #[arg(long)]
        watch: bool,
    },
    /// Measure one job of a campaign on this host
    #[command(hide = true)]
    Job(JobOptions),
    /// Store the results of a campaign
    #[command(after_help = "\
Can be repeated: a result is stored once.

Examples:
  latlas fleet collect lab.toml
  latlas fleet collect lab --json

Exit codes:
  0  complete: every host has all its repetitions
  2  the request can't be carried out
  3  partial; the missing jobs are named")]
    Collect {
        #[command(flatten)]
        campaign: NamedCampaign,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Report a campaign: rows over hosts, outliers, groups
    #[command(after_help = super::fleet_report::EXAMPLES)]
    Report(super::fleet_report::FleetReportOptions),
}

/// A campaign that may not be submitted yet.
#[derive(Args, Debug, Clone)]
pub(crate) struct CampaignOptions {
    /// The campaign's file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Use ssh, and the hosts of this file (one per line) in place of the campaign's
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,
}

/// A campaign that was submitted.
#[derive(Args, Debug, Clone)]
pub(crate) struct NamedCampaign {
    /// The campaign's file, its directory or its name
    #[arg(value_name = "CAMPAIGN")]
    pub(crate) name: String,
}

/// Options of `latlas fleet submit`.
#[derive(Args, Debug, Clone)]
pub(crate) struct SubmitOptions {
    #[command(flatten)]
    pub(crate) campaign: CampaignOptions,
    /// Over ssh, measure on this many hosts at once
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) jobs: u16,
    /// Submit jobs again that were lost or refused
    #[arg(long)]
    pub(crate) again: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `latlas fleet job`, which `submit` has the hosts run.
#[derive(Args, Debug, Clone)]
pub(crate) struct JobOptions {
    /// The campaign's directory, as this host has it
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// This host, as the campaign names it
    #[arg(long)]
    pub(crate) host: String,
    /// Repetition
    #[arg(long)]
    pub(crate) repetition: u32,
    /// Attempt
    #[arg(long)]
    pub(crate) attempt: u32,
    /// Random digits of this execution
    #[arg(long)]
    pub(crate) nonce: Option<String>,
    /// When the job began by the controller's clock, in s since 1970 UTC
    #[arg(long, value_name = "S")]
    pub(crate) reference: Option<u64>,
}
