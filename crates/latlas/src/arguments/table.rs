//! The options of `latlas table`.

use super::Color;
use super::pack::PackOptions;
use clap::Args;
use std::path::PathBuf;

/// Options of `latlas table`.
#[derive(Args, Debug, Clone)]
pub struct TableOptions {
    /// ash, kurkin, oakley or 2012 (default: list the tables)
    #[arg(value_name = "TABLE")]
    pub table: Option<String>,
    /// A file, `last` (the last run of rows, not of commands or recordings), `last~1`, a tag, or the
    /// start of a run's id (default: of this machine's runs among the last 20, the one with most of
    /// the table's rows); for oakley, a run of `latlas qos`
    #[arg(value_name = "RUN", conflicts_with = "measure")]
    pub run: Option<String>,
    /// Measure the table's rows first, and store the run
    #[arg(long, requires = "table")]
    pub measure: bool,
    /// With --measure: measure fewer points in fewer rounds
    #[arg(long, requires = "measure")]
    pub quick: bool,
    /// With --measure: directory for temporary files
    #[arg(long, value_name = "DIR", requires = "measure")]
    pub dir: Option<PathBuf>,
    /// With --measure: exit with code 2 if another latlas is measuring on this machine (default: wait
    /// for its end)
    #[arg(long, requires = "measure")]
    pub no_wait: bool,
    #[command(flatten)]
    pub packs: PackOptions,
    /// Add the values of 2008 from Ash's article
    #[arg(long = "2008", requires = "table")]
    pub earlier: bool,
    /// Add a column with a run's figures, such as a phone's that was imported, or with those of a cloud
    /// type, board or CPU: m7i.large, rock-5b, ryzen-9-5900x (repeatable)
    #[arg(long = "vs", alias = "with", value_name = "RUN|TABLE", requires = "table")]
    pub others: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print all columns, with unrounded figures in ns
    #[arg(long)]
    pub wide: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}
