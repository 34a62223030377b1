//! The options of `latlas table`.

use super::Color;
use clap::Args;
use std::path::PathBuf;

/// Which published table, filled in from which run, and how it is drawn.
#[derive(Args, Debug, Clone)]
pub(crate) struct TableOptions {
    /// The table: ash, kurkin or 2012; without it, lists them
    #[arg(value_name = "TABLE")]
    pub(crate) table: Option<String>,
    /// A file, `last`, `last~1`, or the beginning of a run's id; without it, of the last 20 kept
    /// runs the one of this machine that holds most of the table's rows
    #[arg(value_name = "RUN", conflicts_with = "measure")]
    pub(crate) run: Option<String>,
    /// Measure now what the table needs, and keep the run
    #[arg(long, requires = "table")]
    pub(crate) measure: bool,
    /// With --measure: a first look
    #[arg(long, requires = "measure")]
    pub(crate) quick: bool,
    /// With --measure: the directory for files, as in `latlas run`
    #[arg(long, value_name = "DIR", requires = "measure")]
    pub(crate) dir: Option<PathBuf>,
    /// Add the figures of 2008 that Ash's article recalls
    #[arg(long = "2008", requires = "table")]
    pub(crate) earlier: bool,
    /// The table as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Every column, each figure in ns as it is
    #[arg(long)]
    pub(crate) wide: bool,
    /// Colour the verdicts
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}
