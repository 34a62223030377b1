//! Arguments of `latlas fit`.

use super::Color;
use super::wait::WaitOptions;
use clap::Args;
use std::path::PathBuf;

/// Examples under the help.
pub const EXAMPLES: &str = "\
Measures ten figures in about 9 s (core clock, multiplication, L1, L2, L3, memory, core to core, system
call, write + fsync, share of the CPU) and compares them with those of a fleet's hosts. Without --expect,
with earlier `latlas fit` runs of this machine, and with published figures of its CPU. `latlas help fit`
describes the rules.

Examples:
  latlas fit                                   Is this host what its CPU should be?
  latlas fit --learn fleet.json runs/*.json    Learn the figures of a fleet's hosts
  latlas fit --expect fleet.json               Is this one of these hosts?
  latlas fit --expect fleet.json --run last    Judge a stored run, measure nothing
  latlas fit --expect fleet.json --drain-reason
                                               Print one line, for scontrol update ... Reason=

Exit codes:
  0  fits; or learned; or measured, with nothing to compare with
  1  another machine, out of range, or slow
  2  the request can't be carried out
  3  not quiet now, or inconclusive";

/// Options of `latlas fit`.
#[derive(Args, Debug, Clone)]
pub struct FitOptions {
    /// Compare with the hosts of this file
    #[arg(long, value_name = "FILE", conflicts_with = "learn")]
    pub expect: Option<PathBuf>,
    /// Write the figures of these runs' hosts to this file
    #[arg(long, value_name = "FILE", requires = "runs", conflicts_with = "no_wait")]
    pub learn: Option<PathBuf>,
    /// Runs to learn from: files, ids, tags or machines (@HOST)
    #[arg(value_name = "RUN", requires = "learn")]
    pub runs: Vec<String>,
    /// Judge this stored run (`last`: the last run of rows, not of commands or recordings); measure nothing
    #[arg(long, value_name = "RUN", conflicts_with_all = ["learn", "no_wait"])]
    pub run: Option<String>,
    /// Print only the verdict and what differs, in one line
    #[arg(long, conflicts_with_all = ["json", "learn"])]
    pub drain_reason: bool,
    /// Directory of the file that is written and synced
    #[arg(long, value_name = "DIR", conflicts_with_all = ["learn", "run"])]
    pub dir: Option<PathBuf>,
    /// Also write the Run document to this file (compressed if it ends in .zst)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["learn", "run"])]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub wait: WaitOptions,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}
