//! Options of `latlas fleet report`.

use clap::Args;
use latlas::arguments::Color;
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Every row as a distribution over hosts, one figure per host; outliers, with what else is odd about
them; groups by kernel, microcode, firmware. `latlas help fleet-report` describes the statistics.

Examples:
  latlas fleet report lab                     Print rows, outliers, groups
  latlas fleet report lab -o lab.html         Write a self-contained HTML page
  latlas fleet report lab#3f2a                Another campaign file of that name, by its digest
  latlas fleet report lab --json

Exit codes:
  0  done, and the campaign is complete
  2  the request can't be carried out
  3  done; hosts are missing, or the expected hosts are unknown";

/// Options of `latlas fleet report`.
#[derive(Args, Debug, Clone)]
pub(crate) struct FleetReportOptions {
    /// The campaign's name (with #DIGEST where several files had it), file or directory
    #[arg(value_name = "CAMPAIGN")]
    pub(crate) campaign: String,
    /// Write an HTML page to this file (- for standard output)
    #[arg(short, long, alias = "output", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite a file that is not a report
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON: hosts, rows with each host's figure, groups
    #[arg(long, conflicts_with = "out")]
    pub(crate) json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}
