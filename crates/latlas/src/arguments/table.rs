//! The options of `latlas table`.

use super::Color;
use super::pack::PackOptions;
use clap::Args;
use std::path::PathBuf;

/// Options of `latlas table`.
#[derive(Args, Debug, Clone)]
pub(crate) struct TableOptions {
    /// ash, kurkin, oakley or 2012 (default: list the tables)
    #[arg(value_name = "TABLE")]
    pub(crate) table: Option<String>,
    /// A file, `last`, `last~1`, a tag, or the start of a run's id (default: of this machine's runs
    /// among the last 20, the one with most of the table's rows); for oakley, a file of `latlas qos --out`
    #[arg(value_name = "RUN", conflicts_with = "measure")]
    pub(crate) run: Option<String>,
    /// Measure the table's rows first, and store the run
    #[arg(long, requires = "table")]
    pub(crate) measure: bool,
    /// With --measure: measure fewer points in fewer rounds
    #[arg(long, requires = "measure")]
    pub(crate) quick: bool,
    /// With --measure: directory for temporary files
    #[arg(long, value_name = "DIR", requires = "measure")]
    pub(crate) dir: Option<PathBuf>,
    /// With --measure: exit with code 2 if another latlas is measuring on this machine (default: wait
    /// for its end)
    #[arg(long, requires = "measure")]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) packs: PackOptions,
    /// Add the values of 2008 from Ash's article
    #[arg(long = "2008", requires = "table")]
    pub(crate) earlier: bool,
    /// Add a column with another run's figures, such as a phone's that was imported (repeatable)
    #[arg(long = "with", value_name = "RUN", requires = "table")]
    pub(crate) others: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print all columns, with unrounded figures in ns
    #[arg(long)]
    pub(crate) wide: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}
