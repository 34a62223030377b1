//! What `latlas noise restore` takes.

use clap::Args;
use std::path::PathBuf;

/// Said below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  latlas noise restore           put back what `noise tune` set
  latlas noise restore --json    the same, told to a program

Values that somebody else changed since are left alone, and named. A journal of an earlier boot is
put aside: the kernel began with its own values.

Exit codes: 0 all is as it was, or nothing was to do; 3 somebody else changed some values meanwhile;
2 something could not be put back (it stays in the journal: try again).";

/// How to say what was done.
#[derive(Args, Debug, Clone)]
pub(crate) struct RestoreOptions {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Another tree than / (for tests: plain files)
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) root: Option<PathBuf>,
}
