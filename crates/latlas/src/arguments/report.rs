//! Options of `latlas report`.

use clap::Args;
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
The page is one file that opens from the disk and asks no network for anything. Beside it go the
documents of the runs, with every sample (not with --no-documents). A file that is neither
missing nor such a page is not replaced without --force. docs/report.md tells more.

Examples:
  latlas report                              the last run as one page, latlas-report.html
  latlas report -o lab1.html 5e0c            the run whose id begins so
  latlas report last last~1                  the last run, with the one before it beside
  latlas report run.json.zst -o - >page.html to standard output, without documents
  latlas report --json                       what was written, for programs

Exit codes: 0 written; 2 the request can't be carried out.";

/// Which runs, and where to.
#[derive(Args, Debug, Clone)]
pub(crate) struct ReportOptions {
    /// Files, `last`, `last~1`, tags, or the beginnings of runs' ids; the first is the one that is
    /// shown, the others are set beside it
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) runs: Vec<String>,
    /// Write the page to this file; - for standard output
    #[arg(
        short,
        long,
        alias = "output",
        value_name = "FILE",
        default_value = "latlas-report.html"
    )]
    pub(crate) out: PathBuf,
    /// Don't put the runs' documents beside the page
    #[arg(long)]
    pub(crate) no_documents: bool,
    /// Replace files that are no reports
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what was written as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
