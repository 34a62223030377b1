//! What `latlas noise ab` takes.

use crate::arguments::controls::{Cpus, cpus};
use crate::arguments::recorded::RecordedOptions;
use crate::arguments::{InvalidValue, budget};
use clap::{Args, ValueEnum};
use model::noise::effect::{Load, Workload};
use std::ffi::OsString;
use std::time::Duration;

/// Printed below the options.
pub const EXAMPLES: &str = "\
Runs a job with each control on and off, interleaved, in random order. Without a command it runs the
built-in jobs: without a load, with busy processes in the same session, and with busy processes in
another session. Time, spread, context switches and migrations are tested as one family of
comparisons (`latlas help noise ab`). Controls of the whole system are switched only with a command or
--apply, and restored. Lists the controls that can't be set here, with the reason. Skips rounds that
don't fit the announced time, and reports their number.

Examples:
  latlas noise ab pin nice -- ./prog x    Measure the effect on your command
  latlas noise ab --budget 1m -- ./prog   Measure every control, in a minute
  latlas noise ab                         Measure all controls of a process (about 5 minutes)
  sudo latlas noise ab --apply            Also measure those of the whole system
  latlas noise ab --dry-run               Print the plan, and which controls can't be set here
  latlas noise ab pin nice fifo           Measure some controls
  latlas noise ab --load none --workload cpu --budget 1m
                                          Run one job without a load
  latlas noise ab cache --apply           Compare cold and warm files (root)
  latlas noise ab --out ab.json           Also write every run as JSON

Exit codes:
  0  done
  2  the request can't be carried out
  3  interrupted, incomplete, or no comparison possible";

/// Options of it.
#[derive(Args, Debug, Clone)]
pub struct AbOptions {
    /// Controls: pin, nice, pin+nice, session, autogroup, autogroup+pin+nice, fifo, shield, turbo,
    /// smt, governor, thp, no-thp, irq-affinity, cache; all but smt without any
    #[arg(value_name = "CONTROL")]
    pub controls: Vec<String>,
    /// Command to run instead of the built-in jobs, with its arguments
    #[arg(value_name = "CMD", last = true)]
    pub command: Vec<OsString>,
    /// Load during the runs [default: all; none with a command]
    #[arg(long, value_name = "LOAD")]
    pub load: Option<LoadChoice>,
    /// Built-in job: dependent arithmetic, pointer chase, sleep and wake-up
    #[arg(long, value_name = "JOB", default_value = "all", conflicts_with = "command")]
    pub workload: WorkloadChoice,
    /// Rounds, each with one run of every arm [default: 24; with a command what fits 2m, up to
    /// 100]
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,
    /// Total time, instead of a number of rounds
    #[arg(long = "budget", alias = "for", value_name = "TIME", value_parser = budget)]
    pub time: Option<Duration>,
    /// Time of a built-in job on a quiet CPU [default: 60ms; 200ms with up to three controls]
    #[arg(long, value_name = "TIME", value_parser = job, conflicts_with = "command")]
    pub job: Option<Duration>,
    /// Busy processes of a load per CPU [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub busy: Option<u32>,
    /// CPUs for jobs and loads, such as 2-3; pinned jobs use the last one
    #[arg(long, value_name = "CPUS", value_parser = cpus)]
    pub cpus: Option<Cpus>,
    /// Seed of the random order
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Also switch controls of the whole system, restored afterwards; with a command they are without it
    #[arg(long, conflicts_with = "command")]
    pub apply: bool,
    /// Print the plan and its duration
    #[arg(long, conflicts_with = "document")]
    pub dry_run: bool,
    /// Print every figure
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub run: RecordedOptions,
}

/// Time of a built-in job: with few controls there is time for one that is
/// long enough to be moved between CPUs.
const JOB: Duration = Duration::from_millis(60);
const LONG_JOB: Duration = Duration::from_millis(200);
/// Controls that are few.
const FEW: usize = 3;

impl AbOptions {
    /// The loads.
    pub fn loads(&self) -> Vec<Load> {
        match (self.load, self.command.is_empty()) {
            (Some(choice), _) => choice.loads(),
            (None, true) => LoadChoice::All.loads(),
            (None, false) => LoadChoice::None.loads(),
        }
    }

    /// How long a built-in job takes.
    pub fn job(&self) -> Duration {
        let few = (1..=FEW).contains(&self.controls.len());
        self.job.unwrap_or(if few { LONG_JOB } else { JOB })
    }
}

/// Loads as they are asked for.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadChoice {
    /// No load
    None,
    /// Busy processes in the session of the job
    SameSession,
    /// Busy processes in another session
    OtherSession,
    /// One after the other
    All,
}

impl LoadChoice {
    /// The loads.
    pub fn loads(self) -> Vec<Load> {
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
pub enum WorkloadChoice {
    /// Dependent arithmetic in registers
    Cpu,
    /// Pointer chase through more memory than the caches hold
    Memory,
    /// Sleep and wake-up
    Wakeup,
    /// One after the other
    All,
}

impl WorkloadChoice {
    /// The jobs.
    pub fn workloads(self) -> Vec<Workload> {
        match self {
            WorkloadChoice::Cpu => vec![Workload::Cpu],
            WorkloadChoice::Memory => vec![Workload::Memory],
            WorkloadChoice::Wakeup => vec![Workload::Wakeup],
            WorkloadChoice::All => vec![Workload::Cpu, Workload::Memory, Workload::Wakeup],
        }
    }
}

fn job(text: &str) -> Result<Duration, InvalidValue> {
    let job = budget(text)?;
    match (Duration::from_millis(1)..=Duration::from_secs(5)).contains(&job) {
        true => Ok(job),
        false => Err(InvalidValue::JobTime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_all_controls() {
        let command = <AbOptions as Args>::augment_args(clap::Command::new("ab"));
        let help = command.get_arguments().find(|a| a.get_id() == "controls");
        let help = help.and_then(clap::Arg::get_help).expect("help").to_string();
        let named: Vec<&str> =
            help.trim_start_matches("Controls: ").split([',', ';']).map(str::trim).collect();
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
