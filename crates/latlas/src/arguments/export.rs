//! Options of `latlas export`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use store::exchange::export::ExportFormat;

/// Shown below `latlas export --help`.
pub const EXAMPLES: &str = "\
Rows that a format can't represent are listed on stderr. Markdown omits points of curves unless
--rows selects them. `latlas help formats` describes the formats.

Examples:
  latlas export --format markdown                  Print the last run as a Markdown table
  latlas export 5e0c --format csv --out run.csv    Write a run as CSV
  latlas export run.json.zst --format jsonl --rows 'memory.*' | jq .
  latlas export --format google-benchmark -o new.json && compare.py benchmarks old.json new.json
  latlas export --format benchfmt -o new.txt && benchstat old.txt new.txt
  latlas export --format bencher | bencher run --adapter json --file -
  latlas export --format reference -o my-machine.json
                                                   A record of this machine to publish";

/// Options of `latlas export`.
#[derive(Args, Debug, Clone)]
pub struct ExportOptions {
    /// A file, `last`, `last~1`, a tag, or the start of a run's id
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub format: ExportFormat,
    /// Write to this file instead of standard output
    #[arg(short, long, alias = "output", value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write only these rows: ids, probes, or patterns with * and ? (repeatable)
    #[arg(long, value_name = "PATTERN")]
    pub rows: Vec<String>,
}

fn format() -> impl TypedValueParser<Value = ExportFormat> {
    let values = ExportFormat::ALL
        .map(|format| PossibleValue::new(format.option_name()).help(format.about()));
    PossibleValuesParser::new(values)
        .try_map(|name| ExportFormat::named(&name).ok_or("no such format"))
}
