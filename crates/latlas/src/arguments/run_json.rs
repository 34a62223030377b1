//! How a run is printed for programs.

use clap::Args;

/// As JSON, in one of two forms.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct RunJsonOptions {
    /// Print a JSON object for each row, one a line: {"row": "...", "ns_per_op": ..., "low_ns": ...}
    #[arg(long)]
    pub json: bool,
    /// Print the Run document: one JSON object with all samples, as --out writes it
    #[arg(long, conflicts_with = "json")]
    pub document: bool,
}

impl RunJsonOptions {
    /// The form that was asked for, if one was.
    pub fn form(self) -> Option<RunJson> {
        match self {
            RunJsonOptions { document: true, .. } => Some(RunJson::Document),
            RunJsonOptions { json: true, .. } => Some(RunJson::Rows),
            _ => None,
        }
    }
}

/// A form of a run as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunJson {
    /// An object a row.
    Rows,
    /// The document.
    Document,
}
