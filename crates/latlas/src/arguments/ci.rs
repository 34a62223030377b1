//! What `latlas ci` takes.

use super::Color;
use super::compare::parse_percent;
use super::exec::TimingOptions;
use super::run_json::RunJsonOptions;
use clap::Args;
use std::path::PathBuf;

/// Shown below the options.
pub const HELP: &str = "\
Runs each command in two builds, interleaved: {} in a command is the directory of the build. Judges
wall time and CPU time (task-clock) of all commands together. `latlas help ci` has a GitHub workflow.

Examples:
  latlas ci --base old --head new '{}/prog parse big.json' '{}/prog --version'
  latlas ci --base old --head new --commands bench.txt --fail-above 10%
  latlas ci --base old --head new '{}/prog' -o page.html --markdown comment.md
  latlas ci --base old --head new --criterion

Exit codes:
  0  no regression above --fail-above
  1  regression: a time increased significantly by more than --fail-above
  2  a command failed in one of the builds, or the request can't be carried out
  3  inconclusive: interrupted, or a wall time is too noisy to tell";

/// What only runs of commands have. clap has no group of `TimingOptions`, which holds groups.
const OF_RUNS: [&str; 26] = [
    "texts",
    "commands",
    "out_dir",
    "ControlOptions",
    "WaitOptions",
    "runs",
    "min_runs",
    "max_runs",
    "precise",
    "budget",
    "warmup",
    "check",
    "pin",
    "own_session",
    "warm",
    "cold",
    "cold_files",
    "input",
    "output",
    "show_output",
    "timeout",
    "ignore_failure",
    "shell",
    "shell_named",
    "no_shell",
    "seed",
];

/// Options of `latlas ci`.
#[derive(Args, Debug, Clone)]
pub struct CiOptions {
    /// The commands, with {} for the directory of the build (split like a shell does)
    #[arg(value_name = "CMD", required_unless_present_any = ["commands", "criterion"])]
    pub texts: Vec<String>,
    /// Read commands from a file (`-`: standard input), one per line; # begins a comment
    #[arg(long, value_name = "FILE")]
    pub commands: Option<PathBuf>,
    /// Run nothing: compare criterion's results below --base and --head (target/criterion)
    #[arg(long, conflicts_with_all = OF_RUNS)]
    pub criterion: bool,
    /// Directory of the reference build
    #[arg(long, value_name = "DIR")]
    pub base: PathBuf,
    /// Directory of the build to judge
    #[arg(long, value_name = "DIR")]
    pub head: PathBuf,
    /// Allowed increase of a time
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent)]
    pub fail_above: f64,
    /// Also write the result as Markdown to this file (- for standard output, instead of the text)
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Also write the result as a page or a chart: .html, .svg, .png, .pdf or .md
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also write the Run document of each command to this directory
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    #[command(flatten)]
    pub timing: TimingOptions,
    #[command(flatten)]
    pub json: RunJsonOptions,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_results_of_criterion_each_option_acts_or_is_refused() {
        let command = CiOptions::augment_args(clap::Command::new("ci"));
        let criterion = command.get_arguments().find(|arg| arg.get_id() == "criterion");
        let refused = command.get_arg_conflicts_with(criterion.expect("the option"));
        let left = command.get_arguments().filter(|arg| !refused.contains(arg));
        let left: Vec<&str> = left.map(|arg| arg.get_id().as_str()).collect();
        let acting = [
            "criterion",
            "base",
            "head",
            "fail_above",
            "markdown",
            "out",
            "json",
            "document",
            "color",
        ];
        assert_eq!(left, acting);
    }
}
