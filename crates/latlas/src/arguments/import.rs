//! Options of `latlas import`.

use atlas::exchange::import::Format;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Shown below `latlas import --help`.
pub(crate) const EXAMPLES: &str = "\
Each benchmark becomes a row of a kept run: hyperfine.NAME, google_benchmark.NAME/ARGS,
criterion.GROUP/ID. Prints the run's id. A file with any fault is refused whole.

Examples:
  hyperfine --export-json bench.json 'make -j2' && latlas import bench.json
  ./my_benchmark --benchmark_format=json | latlas import - --name 'my_benchmark at v1.2'
  latlas import target/criterion                        criterion's newest results
  latlas import --format run other-machine.json.zst     a run that latlas made elsewhere
  latlas show $(latlas import bench.json --here)        and print it as a table";

/// Which files, and what is said about them.
#[derive(Args, Debug, Clone)]
pub(crate) struct ImportOptions {
    /// Files of one format, criterion's directory, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Of which format they are; auto looks inside
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) format: ImportFormat,
    /// What to call their origin, in place of the files' names (not of a run, which has one)
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// It was measured on this machine: add its facts, which are unknown otherwise (not of a run)
    #[arg(long)]
    pub(crate) here: bool,
    /// Print the Run document instead of its id
    #[arg(long)]
    pub(crate) json: bool,
}

/// The formats by name.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImportFormat {
    /// By what is in the file
    Auto,
    /// hyperfine --export-json
    Hyperfine,
    /// Google Benchmark's JSON
    GoogleBenchmark,
    /// Below target/criterion
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
