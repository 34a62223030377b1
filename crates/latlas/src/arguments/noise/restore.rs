//! What `latlas noise restore` takes.

use clap::Args;
use std::path::PathBuf;

/// Printed below the options.
pub const EXAMPLES: &str = "\
Keeps values that another process has changed since, and lists them. Sets the journal of an earlier
boot aside: the kernel started with its own values.

Examples:
  latlas noise restore           Restore what `noise tune` set
  latlas noise restore --json    Print JSON

Exit codes:
  0  restored, or nothing to restore
  2  some values can't be restored (they stay in the journal: try again)
  3  another process changed some values";

/// How to say what was done.
#[derive(Args, Debug, Clone)]
pub struct RestoreOptions {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Another root than / (for tests: plain files)
    #[arg(long, value_name = "DIR", hide = true)]
    pub root: Option<PathBuf>,
}
