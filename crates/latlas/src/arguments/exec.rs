//! What `latlas exec` takes.

use super::compare::percent;
use super::controls::ControlOptions;
use super::{Color, budget};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Said below the options.
pub(crate) const HELP: &str = "\
Without -r, runs until the median wall time is known to 2 %: at least 10 runs and 3 s, at most
60 s or 10000 runs (of each command). The command is started without a shell.

Examples:
  latlas exec -- git status                          how long, how much CPU, how many switches
  latlas exec -r 20 --pin -- sha256sum big.iso       20 runs on one quiet CPU, latlas on another
  latlas exec --autogroup -10 -- make                before the work of others (root)
  latlas exec --vs 'grep -F x f' -- grep x f         two commands by turns: different or not
  latlas exec --check 'cmp - expected' -- ./program  the warm-up's output must be right
  latlas exec --cold-files big.iso -- sha256sum big.iso   with that file out of the page cache
  latlas exec --shell -- 'zcat f.gz | wc -l'         a shell's line, and what the shell itself costs
  latlas show --wide                                 every column of the last run

Exit codes: 0 done; 2 the command is not there, failed, ran too long or its output was wrong;
3 interrupted, or the wall time is not ok, or (--vs) a ratio of wall times says neither different
nor the same.";

/// Which commands, how often and under which controls.
#[derive(Args, Debug, Clone)]
pub(crate) struct ExecOptions {
    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    pub(crate) words: Vec<OsString>,
    /// Another command, run by turns with the first (may be repeated; split as a shell does it)
    #[arg(long, value_name = "CMD")]
    pub(crate) vs: Vec<String>,
    /// Timed runs of each command, instead of as many as it takes
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Runs of each command before, kept out of the figures
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) warmup: u32,
    /// Give the warm-up's output to this program, and go on only if it exits with 0
    #[arg(long, value_name = "CMD")]
    pub(crate) check: Option<String>,
    /// Keep the command on one CPU and latlas off it; without a number on the quietest
    #[arg(long, value_name = "CPU", num_args = 0..=1, value_parser = cpu)]
    #[allow(clippy::option_option, reason = "absent, given, given with a number")]
    pub(crate) pin: Option<Option<u32>>,
    #[command(flatten)]
    pub(crate) controls: ControlOptions,
    /// Give each run a session of its own: other work of this session weighs less then
    #[arg(long)]
    pub(crate) own_session: bool,
    /// Files warm in the page cache: what a warm-up leaves (default)
    #[arg(long, conflicts_with_all = ["cold", "cold_files"])]
    pub(crate) warm: bool,
    /// Drop the whole page cache before each run (needs root)
    #[arg(long, conflicts_with = "cold_files")]
    pub(crate) cold: bool,
    /// Drop these files from the page cache before each run (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub(crate) cold_files: Vec<PathBuf>,
    /// Standard input, read anew by each run [default: /dev/null]
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Where output goes: null, show (on standard error), or a file
    #[arg(long, value_name = "WHERE", default_value = "null")]
    pub(crate) output: OsString,
    /// Kill a run that takes longer, and stop
    #[arg(long, value_name = "TIME", value_parser = limit)]
    pub(crate) timeout: Option<Duration>,
    /// Let runs that fail count like others
    #[arg(long)]
    pub(crate) ignore_failure: bool,
    /// Hand the commands to a shell (sh, or --shell=bash)
    #[arg(long, value_name = "SHELL", num_args = 0..=1, require_equals = true, default_missing_value = "sh")]
    pub(crate) shell: Option<OsString>,
    /// Name of the command's rows, exec.NAME/... (repeat for those of --vs)
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) name: Vec<String>,
    /// The same only if the interval of the ratio stays this close to 1; different may be less
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent)]
    pub(crate) margin: f64,
    /// Seed of the order of the commands
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print the Run document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the Run document to this file too (compressed if it ends in .zst)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Every row with every column
    #[arg(long)]
    pub(crate) wide: bool,
    /// Colour the verdicts
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

fn limit(text: &str) -> Result<Duration, String> {
    match budget(text)? {
        Duration::ZERO => Err("no time at all would kill every run; give at least 1ms".into()),
        limit => Ok(limit),
    }
}

fn name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_+".contains(c);
    match !text.is_empty() && text.len() <= 64 && text.chars().all(fits) {
        true => Ok(text.into()),
        false => Err("a name has 1 to 64 letters, digits, -, _ and +".into()),
    }
}

fn cpu(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| "give the number of a CPU, or nothing and then -- before the command".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_names_and_limits() {
        assert_eq!(cpu("3"), Ok(3));
        for bad in ["ls", "-1", ""] {
            assert!(cpu(bad).expect_err(bad).contains("-- before the command"));
        }
        assert_eq!(name("grep-F_2+"), Ok("grep-F_2+".into()));
        for bad in ["", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(name(bad).is_err(), "{bad}");
        }
        assert!(limit("0s").is_err());
        assert_eq!(limit("2s"), Ok(Duration::from_secs(2)));
    }
}
