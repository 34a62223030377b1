//! Options of `latlas report`.

use clap::Args;
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Writes a self-contained HTML page (no network access) and, next to it, the Run documents. Does not
overwrite other files unless --force is given. docs/report.md describes the page.

Examples:
  latlas report                               Write latlas-report.html of the last run
  latlas report -o lab1.html 5e0c             Report another run
  latlas report last last~1                   Compare the last run with the one before
  latlas report run.json.zst -o - >page.html  Write to standard output, without documents
  latlas report --json                        Print what was written as JSON

Exit codes:
  0  written
  2  the request can't be carried out";

/// Options of `latlas report`.
#[derive(Args, Debug, Clone)]
pub(crate) struct ReportOptions {
    /// The run to report, and runs to compare it with: files, `last`, `last~1`, tags, or starts of
    /// ids
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) runs: Vec<String>,
    /// Write to this file (- for standard output)
    #[arg(
        short,
        long,
        alias = "output",
        value_name = "FILE",
        default_value = "latlas-report.html"
    )]
    pub(crate) out: PathBuf,
    /// Don't write the Run documents
    #[arg(long)]
    pub(crate) no_documents: bool,
    /// Overwrite files that are not reports
    #[arg(long)]
    pub(crate) force: bool,
    /// Print what was written as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
