//! What `latlas noise show` takes.

use crate::arguments::Color;
use clap::Args;
use std::path::PathBuf;

/// Said below the options.
pub(crate) const EXAMPLES: &str = "\
Needs no root, and changes nothing. docs/noise/controls.md has every control.

Examples:
  latlas noise show            every control with its value, and what to do about it
  latlas noise show --wide     with what each is, why a value is better and how a shell sets it
  latlas noise show --json     for programs

Exit codes: 0 there is nothing to do; 2 the request can't be carried out; 3 there is advice, or nothing
can be seen.";

/// How to show it.
#[derive(Args, Debug, Clone)]
pub(crate) struct ShowOptions {
    /// What each control is, where it is read, why another value is better, how a shell sets it
    #[arg(long)]
    pub(crate) wide: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Colour what could be better
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Look at a tree that holds the /proc and /sys of a machine: for tests and copied trees
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) root: Option<PathBuf>,
}
