//! The options of every command that makes a run of a recording.

use super::Color;
use super::wait::WaitOptions;
use clap::Args;
use std::path::PathBuf;

/// When it begins, and where it goes.
#[derive(Args, Debug, Clone)]
pub(crate) struct RecordedOptions {
    #[command(flatten)]
    pub(crate) wait: WaitOptions,
    /// Print the Run document (JSON)
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the run to this file (compressed if it ends in .zst; repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}
