//! What `latlas noise tune` takes.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Said below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  latlas noise tune --dry-run                  print current and new values
  latlas noise tune -- ./benchmark             set, run, restore however it ends
  latlas noise tune --only thp,irq-affinity    these controls, until `noise restore`
  latlas noise tune --cpus 2-3                 keep interrupts and kernel work off these CPUs
  latlas noise tune --only shield --cpus 3 -- ./benchmark   reserve CPU 3 for the command
  latlas noise restore                         restore what a tune without a command set

Old values are journaled on disk (/var/lib/latlas/noise, or LATLAS_STATE_DIR) before they change; a
watchdog restores them if latlas is killed.

Exit codes: with a command its own (128 + signal), or 3 instead of 0 if some values could not be set
or restored; 2 if it was not run, because nothing could be set, or nothing of a control in --only.
Without a command 0 all set; 3 some not set; 2 none set.";

/// What to set, and for how long.
#[derive(Args, Debug, Clone)]
pub(crate) struct TuneOptions {
    /// Only these controls of `noise show`, or shield, offline=CPU
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Quiet CPUs, such as 2-3,6 [default: the last core]
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// Print what would be set (needs no root)
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
