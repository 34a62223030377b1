//! Arguments of `latlas selftest`.

use super::Color;
use clap::Args;
use std::path::PathBuf;

/// Examples under the help.
pub(crate) const EXAMPLES: &str = "\
Measures full sets A and B of this machine in the order A B B A, compares them as `latlas compare`
would, and says for each row which change it could tell now. docs/compare.md tells the statistics.

Examples:
  latlas selftest --quick                 a first answer in half a minute
  latlas selftest 'cpu.*' memory.latency  only some rows
  latlas selftest --rounds 3              twelve sets: better known
  latlas selftest --quick --json

Exit codes: 0 done; 2 refused; 3 nothing could be told, a row was called different though nothing
is, or it was interrupted.";

/// What to measure, how often.
#[derive(Args, Debug, Clone)]
pub(crate) struct SelftestOptions {
    /// Rows: ids, probes with all their rows, or patterns with * and ?
    #[arg(value_name = "ROW")]
    pub(crate) rows: Vec<String>,
    /// Few points and rounds in each set
    #[arg(long)]
    pub(crate) quick: bool,
    /// Rounds of four sets each
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// The CPU to measure on; each set chooses its own otherwise
    #[arg(long, value_name = "CPU")]
    pub(crate) pin: Option<u32>,
    /// Directory for the files of the rows that need some
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Keep the sets among the runs: later comparisons learn from them
    #[arg(long)]
    pub(crate) keep: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Colour the sizes
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}
