//! The options of every command that makes a run of a recording.

use super::Color;
use super::run_json::RunJsonOptions;
use super::wait::WaitOptions;
use clap::Args;
use std::path::PathBuf;

/// When it begins, and where it goes.
#[derive(Args, Debug, Clone)]
pub struct RecordedOptions {
    #[command(flatten)]
    pub wait: WaitOptions,
    #[command(flatten)]
    pub json: RunJsonOptions,
    /// Also write the run to this file (compressed if it ends in .zst; repeatable)
    #[arg(long, value_name = "FILE")]
    pub out: Vec<PathBuf>,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}
