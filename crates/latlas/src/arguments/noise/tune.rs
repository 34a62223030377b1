//! What `latlas noise tune` takes.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Printed below the options.
pub const EXAMPLES: &str = "\
Without --apply or a command it changes nothing: it prints each file with its current and new value.
Writes the old values to a journal on disk (/var/lib/latlas/noise, or LATLAS_STATE_DIR) before it
changes them. A watchdog restores them if latlas is killed. `latlas help noise tune` describes both.

Examples:
  latlas noise tune                            Print current and new values, change nothing
  latlas noise tune -- ./benchmark             Set, run, restore however it ends
  latlas noise tune --apply                    Set until `latlas noise restore`
  latlas noise tune --apply --only thp,irq-affinity
                                               Set these controls
  latlas noise tune --cpus 2-3 -- ./benchmark  Keep interrupts and kernel work off these CPUs
  latlas noise tune --only shield --cpus 3 -- ./benchmark
                                               Reserve CPU 3 for the command
  latlas noise restore                         Restore what --apply set

Exit codes with a command: that of the command (128 + signal), or
  2  the command was not run: nothing could be set, or a control in --only could not
  3  the command exited with 0, but some values could not be set or restored

Exit codes without a command:
  0  all values set (--apply) or printed
  2  none set, or a control in --only does not exist here (nothing was changed)
  3  some not set";

/// What to set, and for how long.
#[derive(Args, Debug, Clone)]
pub struct TuneOptions {
    /// Only these controls of `noise show`, or shield, offline=CPU
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Quiet CPUs, such as 2-3,6 [default: the last core]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Set the values until `latlas noise restore` (root)
    #[arg(long, conflicts_with_all = ["command", "dry_run"])]
    pub apply: bool,
    /// Print what would be set, and don't run the command (no root)
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON (with a command to stderr)
    #[arg(long)]
    pub json: bool,
    /// Another root than / (for tests: plain files)
    #[arg(long, value_name = "DIR", hide = true)]
    pub root: Option<PathBuf>,
    /// Command to run; everything is restored when it ends
    #[arg(value_name = "CMD", last = true)]
    pub command: Vec<OsString>,
}
