//! What `latlas noise ab` takes.

use crate::arguments::controls::{Cpus, cpus};
use crate::arguments::{Color, budget};
use clap::{Args, ValueEnum};
use model::noise::effect::{Load, Workload};
use std::path::PathBuf;
use std::time::Duration;

/// Said below the options.
pub(crate) const EXAMPLES: &str = "\
Each control is on for one run of a job and off for another, by turns, round by round: beside no
load of ours, beside busy processes of the same session, and of another one. What is told of time
and spread is told for the whole table at once (docs/noise/ab.md). Controls that can't be set here
stay in the table with the reason.

Examples:
  latlas noise ab                         all controls, jobs and loads: about five minutes
  latlas noise ab --dry-run               what that would be, and which controls can't be set here
  latlas noise ab pin nice fifo           only these
  latlas noise ab --load none --workload cpu --for 1m    one job on the machine as it is
  latlas noise ab cache                   small files from the disk and from memory (root)
  latlas noise ab --out ab.json           every run of it in a file

Exit codes: 0 done; 2 the request can't be carried out; 3 interrupted or not whole, or nothing
could be told.";

/// Options of it.
#[derive(Args, Debug, Clone)]
pub(crate) struct AbOptions {
    /// Controls: pin, nice, pin+nice, session, autogroup, autogroup+pin+nice, fifo, shield, turbo,
    /// smt, governor, thp, no-thp, irq-affinity, cache; all but smt without any
    #[arg(value_name = "CONTROL")]
    pub(crate) controls: Vec<String>,
    /// What keeps the machine busy beside the job
    #[arg(long, value_name = "LOAD", default_value = "all")]
    pub(crate) load: LoadChoice,
    /// What runs: a chain in registers, a chase through memory, a thread that sleeps and wakes up
    #[arg(long, value_name = "JOB", default_value = "all")]
    pub(crate) workload: WorkloadChoice,
    /// Rounds, of one run with each control and one without any
    #[arg(long, value_name = "N", default_value_t = noise::ab::plan::ROUNDS, conflicts_with = "time", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// About so long in all, instead of a number of rounds
    #[arg(long = "for", value_name = "TIME", value_parser = budget)]
    pub(crate) time: Option<Duration>,
    /// Time that a job takes on a quiet CPU
    #[arg(long, value_name = "TIME", default_value = "60ms", value_parser = job)]
    pub(crate) job: Duration,
    /// Busy processes of a load, for each CPU
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) busy: u32,
    /// CPUs for jobs and loads, such as 2-3; what is pinned is pinned to the last one
    #[arg(long, value_name = "CPUS", value_parser = cpus)]
    pub(crate) cpus: Option<Cpus>,
    /// Seed of the order in the rounds, to repeat it
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print what would be run and how long it would take (as JSON with --json)
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the document with every run instead of the tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the document to this file too
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Every figure
    #[arg(long)]
    pub(crate) wide: bool,
    /// Colour the verdicts
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// Loads as they are asked for.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadChoice {
    /// Nothing of ours
    None,
    /// Busy processes of the job's session
    SameSession,
    /// Busy processes of another session
    OtherSession,
    /// One after the other
    All,
}

impl LoadChoice {
    /// The loads.
    pub(crate) fn loads(self) -> Vec<Load> {
        match self {
            LoadChoice::None => vec![Load::None],
            LoadChoice::SameSession => vec![Load::SameSession],
            LoadChoice::OtherSession => vec![Load::OtherSession],
            LoadChoice::All => vec![Load::None, Load::SameSession, Load::OtherSession],
        }
    }
}

/// Jobs as they are asked for.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkloadChoice {
    /// A chain of dependent operations in registers
    Cpu,
    /// A chase through more memory than the caches hold
    Memory,
    /// A thread that sleeps and wakes up
    Wakeup,
    /// One after the other
    All,
}

impl WorkloadChoice {
    /// The jobs.
    pub(crate) fn workloads(self) -> Vec<Workload> {
        match self {
            WorkloadChoice::Cpu => vec![Workload::Cpu],
            WorkloadChoice::Memory => vec![Workload::Memory],
            WorkloadChoice::Wakeup => vec![Workload::Wakeup],
            WorkloadChoice::All => vec![Workload::Cpu, Workload::Memory, Workload::Wakeup],
        }
    }
}

fn job(text: &str) -> Result<Duration, String> {
    let job = budget(text)?;
    match (Duration::from_millis(1)..=Duration::from_secs(5)).contains(&job) {
        true => Ok(job),
        false => Err("give 1ms to 5s".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_all_controls() {
        let command = <AbOptions as Args>::augment_args(clap::Command::new("ab"));
        let help = command.get_arguments().find(|a| a.get_id() == "controls");
        let help = help
            .and_then(clap::Arg::get_help)
            .expect("help")
            .to_string();
        let named: Vec<&str> = help
            .trim_start_matches("Controls: ")
            .split([',', ';'])
            .map(str::trim)
            .collect();
        let all: Vec<&str> = noise::ab::control::ALL.iter().map(|c| c.name).collect();
        assert_eq!(named[..named.len() - 1], all);
    }

    #[test]
    fn a_job_is_neither_nothing_nor_for_ever() {
        assert_eq!(job("60ms"), Ok(Duration::from_millis(60)));
        for bad in ["0ms", "1us", "6s", "60"] {
            assert!(job(bad).is_err(), "{bad}");
        }
    }
}
