//! Options of `latlas man`.

use clap::Args;
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Examples:
  latlas man | man -l -                        the page of latlas itself
  latlas man ~/.local/share/man/man1           one page for each command
  man latlas-run                               and read one";

/// Where to.
#[derive(Args, Debug, Clone)]
pub(crate) struct ManOptions {
    /// Write one page for each command into this directory; without it the main page goes to stdout
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}
