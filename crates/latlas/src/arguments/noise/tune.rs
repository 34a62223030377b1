//! What `latlas noise tune` takes.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Printed below the options.
pub(crate) const EXAMPLES: &str = "\
Writes the old values to a journal on disk (/var/lib/latlas/noise, or LATLAS_STATE_DIR) before it
changes them. A watchdog restores them if latlas is killed. docs/noise/tune.md describes both.

Examples:
  latlas noise tune --dry-run                  Print current and new values
  latlas noise tune -- ./benchmark             Set, run, restore however it ends
  latlas noise tune --only thp,irq-affinity    Set these controls, until `noise restore`
  latlas noise tune --cpus 2-3                 Keep interrupts and kernel work off these CPUs
  latlas noise tune --only shield --cpus 3 -- ./benchmark
                                               Reserve CPU 3 for the command
  latlas noise restore                         Restore what a tune without a command set

Exit codes with a command: that of the command (128 + signal), or
  2  the command was not run: nothing could be set, or nothing of a control in --only
  3  the command exited with 0, but some values could not be set or restored

Exit codes without a command:
  0  all values set
  2  none set
  3  some not set";

/// What to set, and for how long.
#[derive(Args, Debug, Clone)]
pub(crate) struct TuneOptions {
    /// Only these controls of `noise show`, or shield, offline=CPU
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Quiet CPUs, such as 2-3,6 [default: the last core]
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// Print what would be set (no root)
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON (with a command to stderr)
    #[arg(long)]
    pub(crate) json: bool,
    /// Another root than / (for tests: plain files)
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) root: Option<PathBuf>,
    /// Command to run; everything is restored when it ends
    #[arg(value_name = "CMD", last = true)]
    pub(crate) command: Vec<OsString>,
}
