//! Options of `latlas man`.

use clap::Args;
use std::path::PathBuf;

/// Examples of `--help`.
pub const EXAMPLES: &str = "\
Examples:
  latlas man | man -l -                 Show the main page
  latlas man ~/.local/share/man/man1    Install the pages of all commands
  man latlas-run                        Read an installed page";

/// Options of `latlas man`.
#[derive(Args, Debug, Clone)]
pub struct ManOptions {
    /// Write the pages of all commands to this directory, which exists [default: print the main page]
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}
