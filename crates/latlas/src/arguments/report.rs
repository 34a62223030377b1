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
  latlas report -o latlas.html --url https://example.org/latlas.html
                                              Links to the page get a title and a picture
  latlas report run.json.zst -o - >page.html  Write to standard output, without documents
  latlas report --json                        Print what was written as JSON

Exit codes:
  0  written
  2  the request can't be carried out";

/// An address of the web.
fn address(text: &str) -> Result<String, &'static str> {
    let is_web = ["https://", "http://"].iter().any(|scheme| {
        text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
    });
    match is_web && !text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        true => Ok(text.to_owned()),
        false => Err("give an address such as https://example.org/latlas.html"),
    }
}

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
    /// The address where the page will be: links to it get a picture, FILE.png next to the page
    #[arg(long, value_name = "URL", value_parser = address)]
    pub(crate) url: Option<String>,
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
