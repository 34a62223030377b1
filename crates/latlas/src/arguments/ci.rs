//! What `latlas ci` takes.

use super::Color;
use super::compare::parse_percent;
use super::exec::TimingOptions;
use clap::Args;
use std::path::PathBuf;

/// Shown below the options.
pub(crate) const HELP: &str = "\
Runs each command in two builds, interleaved: {} in a command is the directory of the build. Judges
wall time and CPU time (task-clock) of all commands together. docs/ci.md has a GitHub workflow.

Examples:
  latlas ci --base old --head new '{}/prog parse big.json' '{}/prog --version'
  latlas ci --base old --head new --commands bench.txt --fail-above 10%
  latlas ci --base old --head new '{}/prog' --markdown comment.md --out-dir runs

Exit codes:
  0  no regression above --fail-above
  1  regression: a time increased significantly by more than --fail-above
  2  a command failed in one of the builds, or the request can't be carried out
  3  inconclusive: interrupted, or a wall time is too noisy to tell";

/// Options of `latlas ci`.
#[derive(Args, Debug, Clone)]
pub(crate) struct CiOptions {
    /// The commands, with {} for the directory of the build (split like a shell does)
    #[arg(value_name = "CMD", required_unless_present = "commands")]
    pub(crate) texts: Vec<String>,
    /// Read commands from a file (`-`: standard input), one per line; # begins a comment
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,
    /// Directory of the reference build
    #[arg(long, value_name = "DIR")]
    pub(crate) base: PathBuf,
    /// Directory of the build to judge
    #[arg(long, value_name = "DIR")]
    pub(crate) head: PathBuf,
    /// Allowed increase of a time
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent)]
    pub(crate) fail_above: f64,
    /// Also write the result as Markdown to this file (- for standard output, instead of the text)
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Also write the Run document of each command to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) timing: TimingOptions,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}
