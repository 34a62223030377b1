//! Options of `latlas export`.

use atlas::exchange::export::Format;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Shown below `latlas export --help`.
pub(crate) const EXAMPLES: &str = "\
Without --rows, Markdown leaves the points of curves out; every other format has them. Rows that a
format has no place for are listed on stderr. docs/exchange.md says what each format holds.

Examples:
  latlas export --format markdown                       the last run, for an issue or a README
  latlas export 5e0c --format csv --out run.csv         the run whose id begins so, as a file
  latlas export run.json.zst --format jsonl --rows 'memory.*' | jq .
  latlas export --format google-benchmark -o new.json && compare.py benchmarks old.json new.json
  latlas export --format bencher | bencher run --adapter json --file -";

/// Which run, what of it, how and where.
#[derive(Args, Debug, Clone)]
pub(crate) struct ExportOptions {
    /// A file, `last`, `last~1`, or the beginning of a run's id
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
    /// In which format
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    /// Write to this file instead of standard output
    #[arg(short, long, alias = "output", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Only these rows: ids, probes with all their rows, or patterns with * and ? (may be repeated)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) rows: Vec<String>,
}

/// The formats by name.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    /// A table for READMEs and issues
    Markdown,
    /// One record a figure (RFC 4180)
    Csv,
    /// One JSON object a figure
    Jsonl,
    /// JSON that Google Benchmark's compare.py reads
    GoogleBenchmark,
    /// JSON that hyperfine's scripts read
    Hyperfine,
    /// Bencher Metric Format
    Bencher,
}

impl From<ExportFormat> for Format {
    fn from(format: ExportFormat) -> Format {
        match format {
            ExportFormat::Markdown => Format::Markdown,
            ExportFormat::Csv => Format::Csv,
            ExportFormat::Jsonl => Format::JsonLines,
            ExportFormat::GoogleBenchmark => Format::GoogleBenchmark,
            ExportFormat::Hyperfine => Format::Hyperfine,
            ExportFormat::Bencher => Format::Bencher,
        }
    }
}
