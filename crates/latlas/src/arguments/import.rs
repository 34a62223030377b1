//! Options of `latlas import`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
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
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = format())]
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

/// One of the formats, or the one that the content has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImportFormat(pub(crate) Option<Format>);

fn format() -> impl TypedValueParser<Value = ImportFormat> {
    let auto = PossibleValue::new("auto").help("Detected from the content");
    let value = |format: Format| PossibleValue::new(format.name()).help(format.about());
    let values = std::iter::once(auto).chain(Format::ALL.map(value));
    PossibleValuesParser::new(values).map(|name| ImportFormat(Format::named(&name)))
}
