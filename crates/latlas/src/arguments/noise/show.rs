//! What `latlas noise show` takes.

use crate::arguments::Color;
use clap::Args;
use std::path::PathBuf;

/// Printed below the options.
pub const EXAMPLES: &str = "\
Needs no root and changes nothing. `latlas help noise controls` describes all controls.

Examples:
  latlas noise show            List all controls, with values and advice
  latlas noise show --wide     Also print title, source, reason and shell command
  latlas noise show --json     Print JSON

Exit codes:
  0  nothing to do
  2  the request can't be carried out
  3  there is advice, values are not restored yet, or neither /proc nor /sys is visible";

/// How to show it.
#[derive(Args, Debug, Clone)]
pub struct ShowOptions {
    /// Also print title, source, reason and shell command of each control
    #[arg(long)]
    pub wide: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Color values that could be better
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Read /proc and /sys below this directory: tests and copied trees
    #[arg(long, value_name = "DIR", hide = true)]
    pub root: Option<PathBuf>,
}
