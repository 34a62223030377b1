//! Options of `latlas report`.

use clap::Args;
use std::path::PathBuf;

/// Examples of `--help`.
pub const EXAMPLES: &str = "\
Writes a self-contained HTML page (no network access) and, next to it, the Run documents. Does not
overwrite other files unless --force is given. `latlas help report` describes the page.

Examples:
  latlas report                               Write latlas-report.html of the last run
  latlas report -o lab1.html 5e0c             Report another run
  latlas report last last~1                   Compare the last run with the one before
  latlas report --share -o page.html          One page to send: each cost in the time of another, without
                                              host name, user, paths, addresses
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
pub struct ReportOptions {
    /// The run to report, and runs to compare it with: files, `last`, `last~1`, tags, or starts of
    /// ids. `last` is the last run of rows, or if there is none, of commands (`exec`, `ci`) or a recording
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// Write to this file (- for standard output)
    #[arg(
        short,
        long,
        alias = "output",
        value_name = "FILE",
        default_value = "latlas-report.html"
    )]
    pub out: PathBuf,
    /// The address where the page will be: links to it get a picture, FILE.png next to the page
    #[arg(long, value_name = "URL", value_parser = address)]
    pub url: Option<String>,
    /// Write a page to send to others: the exchange rate of costs, and where the machine stands. Leaves out
    /// host name, user, paths, addresses and the Run document
    #[arg(long)]
    pub share: bool,
    /// Don't write the Run documents
    #[arg(long)]
    pub no_documents: bool,
    /// Overwrite files that are not reports
    #[arg(long)]
    pub force: bool,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}
