//! What `latlas exec` takes.

use super::compare::parse_percent;
use super::controls::ControlOptions;
use super::run_json::RunJsonOptions;
use super::wait::WaitOptions;
use super::{Color, InvalidValue, time};
use clap::Args;
use clap::builder::{OsStringValueParser, PathBufValueParser, TypedValueParser};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Shown below the options.
pub const HELP: &str = "\
Runs one command ten times, or for 3 s if that is longer; several, interleaved, until it is known
which is faster, or that they are the same to 2 % (at most 15 s for two short commands).

Examples:
  latlas exec -- git status                          Measure time, CPU usage, context switches
  latlas exec 'grep -F x f' 'grep x f'               Compare two commands, interleaved
  latlas exec --vs 'grep -F x f' -- grep x f         The same
  latlas exec -r 20 --pin -- sha256sum big.iso       Run 20 times on one quiet CPU
  latlas exec -L j 1,2,4 'make -j{j}' -p 'make clean'
                                                     Compare values; run a command before each run
  latlas exec 'zcat f.gz | wc -l'                    Run in a shell, which this line needs
  latlas exec --autogroup -10 -- make                Raise the scheduling priority (root)
  latlas exec --check 'cmp - expected' -- ./program  Check the output of the warm-up run
  latlas exec --cold-files big.iso -- sha256sum big.iso
                                                     Drop a file from the page cache first
  latlas show --wide                                 Print all columns of the last run

Exit codes:
  0  done
  2  a command does not exist, failed, timed out, or printed the wrong output
  3  interrupted, the wall time is not ok, runs failed (--ignore-failure), or a comparison is
     inconclusive";

/// Options of `latlas exec`.
#[derive(Args, Debug, Clone)]
#[command(group = clap::ArgGroup::new("compared").multiple(true))]
pub struct ExecOptions {
    /// Command lines: each is one command, run without a shell unless it needs one
    #[arg(value_name = "LINE", required_unless_present = "words", group = "compared")]
    pub lines: Vec<String>,
    /// One command and its arguments, after --
    #[arg(value_name = "CMD", last = true, conflicts_with = "lines")]
    pub words: Vec<OsString>,
    /// Compare with this command, interleaved (repeatable; split like a shell does)
    #[arg(long, value_name = "CMD", group = "compared")]
    pub vs: Vec<String>,
    #[command(flatten)]
    pub timing: TimingOptions,
    /// Replace {VAR} in the commands by each value (repeatable: all combinations)
    #[arg(short = 'L', long, value_names = ["VAR", "VALUES"], num_args = 2, allow_hyphen_values = true)]
    pub parameter_list: Vec<String>,
    /// Replace {VAR} in the commands by each number from MIN to MAX
    #[arg(short = 'P', long, value_names = ["VAR", "MIN", "MAX"], num_args = 3, action = clap::ArgAction::Set, allow_hyphen_values = true, conflicts_with = "parameter_list")]
    pub parameter_scan: Vec<String>,
    /// Step of --parameter-scan
    #[arg(short = 'D', long, value_name = "STEP", requires = "parameter_scan")]
    pub parameter_step_size: Option<String>,
    /// Run this shell command once before the runs of a command
    #[arg(short, long, value_name = "CMD")]
    pub setup: Option<String>,
    /// Run this shell command before each run (once for all, or once for each command)
    #[arg(short, long, value_name = "CMD")]
    pub prepare: Vec<String>,
    /// Run this shell command after each run (once for all, or once for each command)
    #[arg(short = 'C', long, value_name = "CMD")]
    pub conclude: Vec<String>,
    /// Run this shell command once after the runs of a command
    #[arg(short, long, value_name = "CMD")]
    pub cleanup: Option<String>,
    /// Name of the command, for its rows exec.NAME/... (repeat for each command)
    #[arg(short, long, alias = "command-name", value_name = "NAME", value_parser = command_name)]
    pub name: Vec<String>,
    /// Write hyperfine's JSON to this file
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// Write a Markdown table of the commands to this file
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
    /// Order of the comparisons
    #[arg(long, value_name = "ORDER", default_value = "auto")]
    pub sort: Sort,
    /// Call commands the same if the confidence interval lies within this range of 1
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent, requires = "compared")]
    pub margin: f64,
    #[command(flatten)]
    pub json: RunJsonOptions,
    /// Also write the Run document to this file (compressed if it ends in .zst)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print all counts, ranges and reasons
    #[arg(long, alias = "verbose", short_alias = 'v', conflicts_with_all = ["json", "document"])]
    pub all: bool,
    /// Print all rows and columns
    #[arg(long, conflicts_with_all = ["json", "document"])]
    pub wide: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// How commands are run and timed, by `latlas exec` and `latlas ci`.
#[derive(Args, Debug, Clone)]
pub struct TimingOptions {
    /// Number of timed runs of each command
    #[arg(short, long, alias = "repeat", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: Option<u32>,
    /// At least N timed runs of each command
    #[arg(short, long, value_name = "N", default_value_t = 10, conflicts_with = "runs", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub min_runs: u32,
    /// At most N timed runs of each command
    #[arg(short = 'M', long, value_name = "N", default_value_t = 10_000, conflicts_with = "runs", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_runs: u32,
    /// Run until half of each interval is at most 2 % (at most 60 s per command)
    #[arg(long, conflicts_with = "runs")]
    pub precise: bool,
    /// Time for all timed runs, after the first ten of each command [default: 7.5 s per command that
    /// is compared, 60 s with --precise]
    #[arg(long, value_name = "TIME", conflicts_with = "runs", value_parser = limit)]
    pub budget: Option<Duration>,
    /// Number of warm-up runs of each command [default: 1; none for a single command of 0.1 s or more]
    #[arg(short, long, value_name = "K")]
    pub warmup: Option<u32>,
    /// Pass the output of a warm-up run to this program; stop if it fails
    #[arg(long, value_name = "CMD")]
    pub check: Option<String>,
    /// Pin the command to a CPU (default: the quietest) and latlas to others
    #[arg(long, value_name = "CPU", num_args = 0..=1, default_missing_value = "quietest", value_parser = pin)]
    pub pin: Option<Pin>,
    #[command(flatten)]
    pub controls: ControlOptions,
    #[command(flatten)]
    pub wait: WaitOptions,
    /// Start each run in a separate session (and scheduler autogroup)
    #[arg(long)]
    pub own_session: bool,
    /// Keep the page cache as warm-up runs leave it (default)
    #[arg(long, conflicts_with_all = ["cold", "cold_files"])]
    pub warm: bool,
    /// Drop the page cache before each run (root)
    #[arg(long, conflicts_with = "cold_files")]
    pub cold: bool,
    /// Drop a file from the page cache before each run (repeatable)
    #[arg(long, value_name = "FILE")]
    pub cold_files: Vec<PathBuf>,
    /// File for the standard input of each run [default: /dev/null]
    #[arg(long, value_name = "FILE", value_parser = input())]
    pub input: Option<PathBuf>,
    /// Output of the command: null, show (on stderr), or a file
    #[arg(long, value_name = "WHERE", default_value = "null", value_parser = output())]
    pub output: OsString,
    /// Print the output of the command (--output show)
    #[arg(long, conflicts_with = "output")]
    pub show_output: bool,
    /// Kill a run that takes longer than this, and fail
    #[arg(long, value_name = "TIME", value_parser = limit)]
    pub timeout: Option<Duration>,
    /// Also time failed runs, without judging them; with CODES, accept these exit codes as success
    #[arg(
        short,
        long,
        value_name = "CODES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        value_parser = ignore_failure
    )]
    pub ignore_failure: Option<IgnoreFailure>,
    /// Run the commands in a shell (sh, or --shell=bash)
    #[arg(long, value_name = "SHELL", num_args = 0..=1, require_equals = true, default_missing_value = "sh")]
    pub shell: Option<OsString>,
    /// Run the commands in this shell (none: without one)
    #[arg(short = 'S', value_name = "SHELL", conflicts_with = "shell")]
    pub shell_named: Option<OsString>,
    /// Run the commands without a shell (-S none)
    #[arg(short = 'N', conflicts_with_all = ["shell", "shell_named"])]
    pub no_shell: bool,
    /// Seed of the random order of the commands
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// How a command line becomes a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellChoice {
    /// In a shell if it needs one.
    IfNeeded,
    /// In this one, which may have options.
    In(OsString),
    /// Without.
    Never,
}

impl TimingOptions {
    /// What was asked for.
    pub fn shell_choice(&self) -> ShellChoice {
        let named = self.shell.as_ref().or(self.shell_named.as_ref());
        match named.map(|shell| (shell, shell.to_str())) {
            None if self.no_shell => ShellChoice::Never,
            None => ShellChoice::IfNeeded,
            Some((_, Some("none"))) => ShellChoice::Never,
            Some((_, Some("default"))) => ShellChoice::In("sh".into()),
            Some((shell, _)) => ShellChoice::In(shell.clone()),
        }
    }
}

/// In which order comparisons are printed.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// By time
    Auto,
    /// As the commands were given
    Command,
    /// By time (hyperfine's name for it)
    MeanTime,
}

fn output() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|value| match value.to_str() {
        Some("pipe") => Err(InvalidValue::OutputPipe),
        Some("inherit") => Ok("show".into()),
        _ => Ok(value),
    })
}

fn input() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| match path.to_str() {
        Some("null") => "/dev/null".into(),
        _ => path,
    })
}

/// The CPU of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// The quietest: what is meant without a value. As a value, the configuration can have it too.
    Quietest,
    /// This one.
    Cpu(u32),
}

/// Which failures are no reason to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoreFailure {
    /// All; they count as failures.
    All,
    /// These exit codes, which count as success.
    Codes(Vec<i32>),
}

/// What to do instead of an option of hyperfine, perf stat or time that `latlas exec` doesn't have.
pub fn other_tools_option(unknown: &str) -> String {
    let (whose, ours) = match unknown.split('=').next().unwrap_or(unknown) {
        "--style" => ("hyperfine's", "--color"),
        "-u" | "--time-unit" => ("hyperfine's", "not needed: each time has its unit"),
        "--export-csv" => ("hyperfine's", "latlas export --format csv, after the run"),
        "--export-asciidoc" | "--export-orgmode" => ("hyperfine's", "--export-markdown"),
        "--reference" => ("hyperfine's", "not needed: the first command is the reference"),
        "--reference-name" => ("hyperfine's", "--name, for the first command"),
        "--min-benchmarking-time" => ("hyperfine's", "--min-runs or --budget"),
        "-e" | "--event" => ("perf stat's", "--all: every count"),
        "-d" | "--detailed" => ("perf stat's", "--all"),
        "-a" | "--all-cpus" => ("perf stat's", "not there: the command alone is counted"),
        "-f" | "--format" => ("time's", "--json"),
        "-o" => ("time's", "--out"),
        _ => {
            return format!(
                "latlas exec has no option {unknown}; options of the command go after --: latlas exec -- CMD \
                 {unknown}"
            );
        }
    };
    format!("{whose} {unknown} is {ours}")
}

fn ignore_failure(text: &str) -> Result<IgnoreFailure, InvalidValue> {
    if ["all", "all-non-zero"].contains(&text) {
        return Ok(IgnoreFailure::All);
    }
    let code = |text: &str| text.parse().ok().filter(|code| (1..=255).contains(code));
    let codes: Option<Vec<i32>> = text.split(',').map(code).collect();
    codes.map(IgnoreFailure::Codes).ok_or(InvalidValue::ExitCodes)
}

pub fn limit(text: &str) -> Result<Duration, InvalidValue> {
    match time(text)? {
        Duration::ZERO => Err(InvalidValue::NoTimeLimit),
        limit => Ok(limit),
    }
}

fn command_name(text: &str) -> Result<String, InvalidValue> {
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
        assert_eq!(command_name("grep-F_2+"), Ok("grep-F_2+".into()));
        for bad in ["", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert_eq!(command_name(bad), Err(InvalidValue::Name), "{bad}");
        }
        assert_eq!(ignore_failure("all-non-zero"), Ok(IgnoreFailure::All));
        assert_eq!(ignore_failure("1,2"), Ok(IgnoreFailure::Codes(vec![1, 2])));
        for bad in ["", "0", "1,", "256", "x"] {
            assert_eq!(ignore_failure(bad), Err(InvalidValue::ExitCodes), "{bad}");
        }
        assert_eq!(limit("0s"), Err(InvalidValue::NoTimeLimit));
        assert_eq!(limit("2s"), Ok(Duration::from_secs(2)));
    }
}
