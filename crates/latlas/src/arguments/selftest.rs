//! Arguments of `latlas selftest`.

use super::recorded::RecordedOptions;
use clap::Args;
use std::path::PathBuf;

/// Examples under the help.
pub const EXAMPLES: &str = "\
Measures sets A and B on this machine in the order A B B A, compares them like `latlas compare`, and
prints the smallest detectable change of each row. `latlas help compare` describes the statistics.

Examples:
  latlas selftest --quick                 Take about 30 s
  latlas selftest 'cpu.*' memory.latency  Test some rows
  latlas selftest --rounds 3              Measure 12 sets, for tighter limits
  latlas selftest --quick --json

Exit codes:
  0  done
  2  the request can't be carried out
  3  inconclusive, a false positive, or interrupted";

/// Options of `latlas selftest`.
#[derive(Args, Debug, Clone)]
pub struct SelftestOptions {
    /// Rows: ids, probes, or patterns with * and ?
    #[arg(value_name = "ROW")]
    pub rows: Vec<String>,
    /// Measure fewer points in fewer rounds
    #[arg(long)]
    pub quick: bool,
    /// Number of rounds of four sets
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Measure on this CPU (default: the quietest, for each set)
    #[arg(long, value_name = "CPU")]
    pub pin: Option<u32>,
    /// Directory for temporary files of file.* and disk.* rows
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Store the sets as runs; later comparisons use their run-to-run variation
    #[arg(long)]
    pub keep: bool,
    #[command(flatten)]
    pub run: RecordedOptions,
}
