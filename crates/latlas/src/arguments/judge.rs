//! What `latlas judge` takes.

use super::Color;
use super::compare::parse_percent;
use super::exec::limit;
use super::wait::WaitOptions;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Shown below the options.
pub const HELP: &str = "\
Builds base and head in checkouts of their own, runs their benchmark suites in rounds of new
processes (base, head, base again, in random order) and reports what became slower. Detects go test,
criterion, divan, Google Benchmark, pytest-benchmark and JMH; other harnesses need --harness.

Examples:
  latlas judge --base main --head HEAD            Compare two revisions of this checkout
  latlas judge --base main --head .               Judge uncommitted changes
  latlas judge --base old/ --head new/ 'BM_Parse*' --budget 5m
  latlas judge --base old/ --head new/ -- '{}/prog input'
  latlas judge --base main --head HEAD --explain  Show the detected suites and their commands
  latlas judge --again last -o comment.md         Judge the stored samples of the last run

Exit codes:
  0  no regression
  1  regression: a benchmark became slower
  2  error: nothing was judged
  3  inconclusive: interrupted, or not all benchmarks could be judged";

/// What only measuring has.
const MEASURING: [&str; 10] = [
    "base",
    "head",
    "patterns",
    "budget",
    "explain",
    "build",
    "exe",
    "harness",
    "fail_above",
    "commands",
];

/// Options of `latlas judge`.
#[derive(Args, Debug, Clone)]
pub struct JudgeOptions {
    /// Only benchmarks whose names match; * matches anything
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Version to compare with: a revision of this checkout, or a directory
    #[arg(long, value_name = "REV|DIR", required_unless_present_any = ["again", "explain"])]
    pub base: Option<String>,
    /// Version to judge: a revision, or a directory
    #[arg(long, value_name = "REV|DIR", required_unless_present_any = ["again", "explain"])]
    pub head: Option<String>,
    /// Time for all measurements, without the builds
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = limit)]
    pub budget: Duration,
    /// Allowed increase of a benchmark's time [default: none]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub fail_above: Option<f64>,
    /// Print the detected suites and their commands, without running them
    #[arg(long)]
    pub explain: bool,
    /// Judge a stored run again, without measuring
    #[arg(long, value_name = "RUN", conflicts_with_all = MEASURING)]
    pub again: Option<String>,
    /// Shell command that builds a version, run in its directory
    #[arg(long, value_name = "CMD")]
    pub build: Option<String>,
    /// Benchmark executable, relative to the directory of a version
    #[arg(long, value_name = "FILE")]
    pub exe: Option<PathBuf>,
    /// Use the harness that this file describes
    #[arg(long, value_name = "FILE")]
    pub harness: Option<PathBuf>,
    /// Seed for the random order and layouts
    #[arg(long, value_name = "N", conflicts_with = "again")]
    pub seed: Option<u64>,
    /// Also write the verdict to FILE (.md, .html, .svg, .png, .pdf), or the run (.json, .zst); repeatable
    #[arg(short, long, value_name = "FILE")]
    pub out: Vec<PathBuf>,
    #[command(flatten)]
    pub wait: WaitOptions,
    /// Print the verdict as JSON
    #[arg(long)]
    pub json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Commands to compare; {} is the directory of a version
    #[arg(last = true, value_name = "CMD")]
    pub commands: Vec<String>,
}
