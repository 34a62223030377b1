//! What `latlas noise tune` takes.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Said below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  latlas noise tune --dry-run                  what would be set, with the values of now
  latlas noise tune -- ./benchmark             set, run, put everything back however it ends
  latlas noise tune --only thp,irq-affinity    these controls; they stay until `noise restore`
  latlas noise tune --cpus 2-3                 keep interrupts and the kernel's work off these CPUs
  latlas noise tune --only shield --cpus 3 -- ./benchmark   the command alone on CPU 3
  latlas noise restore                         put back what a tune without a command set

Each old value is in a journal on the disk (/var/lib/latlas/noise, or LATLAS_STATE_DIR) before it is
changed; a watchdog puts everything back if latlas is killed.

Exit codes: with a command its own (128 + the signal that ended it), or 3 if that is 0 and not all
could be set or put back as it was; 2 if it was not run, since nothing could be set, or nothing of a
control that --only names, or not the shield, or not a CPU offline. Without a command, 0 all is set;
3 not all could be set; 2 nothing is set.";

/// What to set, and for how long.
#[derive(Args, Debug, Clone)]
pub(crate) struct TuneOptions {
    /// Only these controls, by their names in `noise show`; and shield, offline=CPU
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// CPUs to be kept quiet (a list like 2-3,6); by default those of the last core
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// Only say what would be set (needs no root)
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// As JSON; with a command to stderr, since stdout is the command's
    #[arg(long)]
    pub(crate) json: bool,
    /// Another tree than / (for tests: plain files)
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) root: Option<PathBuf>,
    /// A command: everything is put back when it ends
    #[arg(value_name = "CMD", last = true)]
    pub(crate) command: Vec<OsString>,
}
