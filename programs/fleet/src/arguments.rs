//! Options of `latlas fleet`.

use crate::compare_options::CompareOptions;
use crate::report_options::{self, FleetReportOptions};
use clap::{Args, Parser, Subcommand};
use fleet::campaign::Time;
use latlas::arguments::config::ConfigOptions;
use latlas::config::CommandLine;
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
A campaign measures the same rows on many hosts. Its file names the rows, the hosts and the
repetitions (`latlas help fleet`). Slurm runs the jobs; without Slurm, --hosts runs them over ssh.

Examples:
  latlas fleet run --hosts n1,n2 'cpu.*'    Measure rows on two hosts over ssh, and report
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

/// The command line `latlas fleet ...`.
#[derive(Parser, Debug)]
#[command(name = "latlas", bin_name = "latlas", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) config: ConfigOptions,
    #[command(subcommand)]
    pub(crate) command: Only,
}

/// Its one command.
#[derive(Subcommand, Debug)]
pub(crate) enum Only {
    /// Measure the same rows on many hosts, and report them
    #[command(subcommand, after_help = EXAMPLES)]
    Fleet(FleetCommand),
}

impl CommandLine for Arguments {
    const PROGRAM: Option<&str> = Some("fleet");

    fn command() -> clap::Command {
        <Arguments as clap::CommandFactory>::command()
    }

    fn configuration(&self) -> &ConfigOptions {
        &self.config
    }
}

/// The commands of `latlas fleet`.
#[derive(Subcommand, Debug)]
pub(crate) enum FleetCommand {
    /// Measure rows on hosts over ssh, and report them, without a campaign file
    #[command(after_help = "\
Writes the campaign's file NAME.toml, submits, collects and reports.

Examples:
  latlas fleet run --hosts node1,node2 'cpu.*'
  latlas fleet run --hosts node1,node2 -j 2 --quick --name lab

Exit codes:
  0  every host was measured
  2  the request can't be carried out
  3  a host was not measured, or the report is not complete")]
    Run(FleetRunOptions),
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
Safe to repeat: already submitted jobs are skipped. Over ssh it runs until all hosts are done.

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
Safe to repeat: a result is stored once.

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
    #[command(after_help = report_options::EXAMPLES)]
    Report(FleetReportOptions),
    /// Compare two campaigns, each host with itself
    #[command(after_help = crate::compare_options::EXAMPLES)]
    Compare(CompareOptions),
}

/// Options of `latlas fleet run`.
#[derive(Args, Debug, Clone)]
pub(crate) struct FleetRunOptions {
    /// Rows, as for `latlas run` (default: all of the scale)
    #[arg(value_name = "ROW")]
    pub(crate) rows: Vec<String>,
    /// The hosts, as ssh knows them, with commas between them
    #[arg(long, value_name = "HOST,...", required = true, value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Measure on this many hosts at once
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) jobs: u16,
    /// Runs on each host
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repetitions: u32,
    /// Measure fewer points in fewer rounds
    #[arg(long)]
    pub(crate) quick: bool,
    /// Time limit of measuring on a host, such as 30s
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) budget: Option<Time>,
    /// Name of the campaign, and of its file (default: run- and the time)
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

fn time(text: &str) -> Result<Time, String> {
    Time::try_from(text.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_command_line_has_all_of_it() {
        let mut command = <Arguments as CommandLine>::command().disable_help_subcommand(true);
        let page = latlas::arguments::page::help_page("", command.clone());
        command.build();
        let own = command.find_subcommand("fleet").expect("its command");
        latlas::arguments::page::assert_complete(&page, own);
    }
}
