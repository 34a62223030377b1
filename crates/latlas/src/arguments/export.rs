//! Options of `latlas export`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use store::exchange::export::Format;

/// Shown below `latlas export --help`.
pub(crate) const EXAMPLES: &str = "\
Rows that a format can't represent are listed on stderr. Markdown omits points of curves unless
--rows selects them. docs/exchange.md describes the formats.

Examples:
  latlas export --format markdown                  Print the last run as a Markdown table
  latlas export 5e0c --format csv --out run.csv    Write a run as CSV
  latlas export run.json.zst --format jsonl --rows 'memory.*' | jq .
  latlas export --format google-benchmark -o new.json && compare.py benchmarks old.json new.json
  latlas export --format bencher | bencher run --adapter json --file -";

/// Options of `latlas export`.
#[derive(Args, Debug, Clone)]
pub(crate) struct ExportOptions {
    /// A file, `last`, `last~1`, a tag, or the start of a run's id
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, alias = "output", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write only these rows: ids, probes, or patterns with * and ? (repeatable)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) rows: Vec<String>,
}

fn format() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(values).try_map(|name| Format::named(&name).ok_or("no such format"))
}
