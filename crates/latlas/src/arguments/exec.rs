//! What `latlas exec` takes.

use super::compare::parse_percent;
use super::controls::ControlOptions;
use super::wait::WaitOptions;
use super::{Color, InvalidValue, time};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Shown below the options.
pub(crate) const HELP: &str = "\
Runs the command, without a shell, until the median wall time is known to 2 %: at least 10 runs and
3 s, at most 10000 runs or 60 s (per command).

Examples:
  latlas exec -- git status                          Measure time, CPU usage, context switches
  latlas exec -r 20 --pin -- sha256sum big.iso       Run 20 times on one quiet CPU
  latlas exec --autogroup -10 -- make                Raise the scheduling priority (root)
  latlas exec --vs 'grep -F x f' -- grep x f         Compare two commands, interleaved
  latlas exec --check 'cmp - expected' -- ./program  Check the output of the warm-up run
  latlas exec --cold-files big.iso -- sha256sum big.iso
                                                     Drop a file from the page cache first
  latlas exec --shell -- 'zcat f.gz | wc -l'         Run a shell command line
  latlas show --wide                                 Print all columns of the last run

Exit codes:
  0  done
  2  the command does not exist, failed, timed out, or printed the wrong output
  3  interrupted, the wall time is not ok, runs failed (--ignore-failure), or the comparison (--vs)
     is inconclusive";

/// Options of `latlas exec`.
#[derive(Args, Debug, Clone)]
pub(crate) struct ExecOptions {
    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    pub(crate) words: Vec<OsString>,
    /// Compare with this command, interleaved (repeatable; split like a shell does)
    #[arg(long, value_name = "CMD")]
    pub(crate) vs: Vec<String>,
    #[command(flatten)]
    pub(crate) timing: TimingOptions,
    /// Name of the command, for its rows exec.NAME/... (repeat for each --vs)
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) name: Vec<String>,
    /// Call commands the same if the confidence interval lies within this range of 1
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent, requires = "vs")]
    pub(crate) margin: f64,
    /// Print the Run document (JSON) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the Run document to this file (compressed if it ends in .zst)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print all counts, ranges and reasons
    #[arg(long)]
    pub(crate) all: bool,
    /// Print all rows and columns
    #[arg(long)]
    pub(crate) wide: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// How commands are run and timed, by `latlas exec` and `latlas ci`.
#[derive(Args, Debug, Clone)]
pub(crate) struct TimingOptions {
    /// Number of timed runs of each command
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Number of warm-up runs of each command
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) warmup: u32,
    /// Pass the output of a warm-up run to this program; stop if it fails
    #[arg(long, value_name = "CMD")]
    pub(crate) check: Option<String>,
    /// Pin the command to a CPU (default: the quietest) and latlas to others
    #[arg(long, value_name = "CPU", num_args = 0..=1, default_missing_value = "quietest", value_parser = pin)]
    pub(crate) pin: Option<Pin>,
    #[command(flatten)]
    pub(crate) controls: ControlOptions,
    #[command(flatten)]
    pub(crate) wait: WaitOptions,
    /// Start each run in a separate session (and scheduler autogroup)
    #[arg(long)]
    pub(crate) own_session: bool,
    /// Keep the page cache as warm-up runs leave it (default)
    #[arg(long, conflicts_with_all = ["cold", "cold_files"])]
    pub(crate) warm: bool,
    /// Drop the page cache before each run (root)
    #[arg(long, conflicts_with = "cold_files")]
    pub(crate) cold: bool,
    /// Drop a file from the page cache before each run (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) cold_files: Vec<PathBuf>,
    /// File for the standard input of each run [default: /dev/null]
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Output of the command: null, show (on stderr), or a file
    #[arg(long, value_name = "WHERE", default_value = "null")]
    pub(crate) output: OsString,
    /// Kill a run that takes longer than this, and fail
    #[arg(long, value_name = "TIME", value_parser = limit)]
    pub(crate) timeout: Option<Duration>,
    /// Time failed runs, too, without judging them; with CODES, accept these exit codes as success
    #[arg(
        long,
        value_name = "CODES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        value_parser = ignore_failure
    )]
    pub(crate) ignore_failure: Option<IgnoreFailure>,
    /// Run the commands in a shell (sh, or --shell=bash)
    #[arg(long, value_name = "SHELL", num_args = 0..=1, require_equals = true, default_missing_value = "sh")]
    pub(crate) shell: Option<OsString>,
    /// Seed of the random order of the commands
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// The CPU of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pin {
    /// The quietest: what is meant without a value. As a value, the configuration can have it too.
    Quietest,
    /// This one.
    Cpu(u32),
}

/// Which failures are no reason to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IgnoreFailure {
    /// All; they count as failures.
    All,
    /// These exit codes, which count as success.
    Codes(Vec<i32>),
}

fn ignore_failure(text: &str) -> Result<IgnoreFailure, InvalidValue> {
    if text == "all" {
        return Ok(IgnoreFailure::All);
    }
    let code = |text: &str| text.parse().ok().filter(|code| (1..=255).contains(code));
    let codes: Option<Vec<i32>> = text.split(',').map(code).collect();
    codes.map(IgnoreFailure::Codes).ok_or(InvalidValue::ExitCodes)
}

fn limit(text: &str) -> Result<Duration, InvalidValue> {
    match time(text)? {
        Duration::ZERO => Err(InvalidValue::NoTimeLimit),
        limit => Ok(limit),
    }
}

fn name(text: &str) -> Result<String, InvalidValue> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_+".contains(c);
    match !text.is_empty() && text.len() <= 64 && text.chars().all(fits) {
        true => Ok(text.into()),
        false => Err(InvalidValue::Name),
    }
}

fn pin(text: &str) -> Result<Pin, InvalidValue> {
    match text {
        "quietest" => Ok(Pin::Quietest),
        _ => text.parse().map(Pin::Cpu).map_err(|_| InvalidValue::Cpu),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_names_and_limits() {
        assert_eq!(pin("3"), Ok(Pin::Cpu(3)));
        assert_eq!(pin("quietest"), Ok(Pin::Quietest));
        for bad in ["ls", "-1", ""] {
            assert_eq!(pin(bad), Err(InvalidValue::Cpu), "{bad}");
        }
        assert_eq!(name("grep-F_2+"), Ok("grep-F_2+".into()));
        for bad in ["", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert_eq!(name(bad), Err(InvalidValue::Name), "{bad}");
        }
        assert_eq!(ignore_failure("1,2"), Ok(IgnoreFailure::Codes(vec![1, 2])));
        for bad in ["", "0", "1,", "256", "x"] {
            assert_eq!(ignore_failure(bad), Err(InvalidValue::ExitCodes), "{bad}");
        }
        assert_eq!(limit("0s"), Err(InvalidValue::NoTimeLimit));
        assert_eq!(limit("2s"), Ok(Duration::from_secs(2)));
    }
}
