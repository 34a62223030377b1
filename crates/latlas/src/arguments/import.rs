//! Options of `latlas import`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use store::exchange::import::Format;

/// Shown below `latlas import --help`.
pub(crate) const EXAMPLES: &str = "\
Stores each benchmark as a row (hyperfine.NAME, google_benchmark.NAME/ARGS, criterion.GROUP/ID) of a
new run, and prints the run's id. A file with an error is rejected as a whole.

Examples:
  hyperfine --export-json bench.json 'make -j2' && latlas import bench.json
  ./my_benchmark --benchmark_format=json | latlas import - --name 'my_benchmark at v1.2'
  latlas import target/criterion                        Newest criterion results
  latlas import --format run other-machine.json.zst     A run of another machine
  latlas show $(latlas import bench.json --here)        Print it as a table";

/// Options of `latlas import`.
#[derive(Args, Debug, Clone)]
pub(crate) struct ImportOptions {
    /// Result files, a criterion directory, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Input format
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) format: ImportFormat,
    /// Name of the source (default: the file names; not for --format run)
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Add this machine's facts: it was measured here (not for --format run)
    #[arg(long)]
    pub(crate) here: bool,
    /// Print the Run document (JSON) instead of its id
    #[arg(long)]
    pub(crate) json: bool,
}

/// The formats.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImportFormat {
    /// Detected from the content
    Auto,
    /// hyperfine --export-json
    Hyperfine,
    /// Google Benchmark's JSON
    GoogleBenchmark,
    /// Files in target/criterion
    Criterion,
    /// A Run document of latlas
    Run,
}

impl ImportFormat {
    /// None for `auto`.
    pub(crate) fn format(self) -> Option<Format> {
        match self {
            ImportFormat::Auto => None,
            ImportFormat::Hyperfine => Some(Format::Hyperfine),
            ImportFormat::GoogleBenchmark => Some(Format::GoogleBenchmark),
            ImportFormat::Criterion => Some(Format::Criterion),
            ImportFormat::Run => Some(Format::Run),
        }
    }
}
