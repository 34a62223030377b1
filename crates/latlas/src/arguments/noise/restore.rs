//! What `latlas noise restore` takes.

use clap::Args;
use std::path::PathBuf;

/// Said below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  latlas noise restore           restore what `noise tune` set
  latlas noise restore --json    for programs

Values that another process changed since are kept and listed. A journal of an earlier boot is set
aside: the kernel started with its own values.

Exit codes: 0 restored, or nothing to restore; 3 another process changed some values; 2 some values
can't be restored (they stay in the journal: try again).";

/// How to say what was done.
#[derive(Args, Debug, Clone)]
pub(crate) struct RestoreOptions {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Another root than / (for tests: plain files)
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) root: Option<PathBuf>,
}
