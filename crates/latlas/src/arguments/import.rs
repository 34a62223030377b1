//! Options of `latlas import`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use store::exchange::import::InputFormat;

/// Shown below `latlas import --help`.
pub const EXAMPLES: &str = "\
Stores each benchmark as a row (hyperfine.NAME, criterion.GROUP/ID, go_test.PACKAGE.BenchmarkNAME) of a
new run, and prints the run's id. A file with an error is rejected as a whole.

Examples:
  hyperfine --export-json bench.json 'make -j2' && latlas import bench.json
  ./my_benchmark --benchmark_format=json | latlas import - --name 'my_benchmark at v1.2'
  go test -bench=. -count=10 | latlas import -          Output of go test
  latlas import target/criterion                        Newest criterion results
  latlas import --format run other-machine.json.zst     A run of another machine
  latlas import records/                                Every record that others published there
  latlas show $(latlas import bench.json --here)        Print it as a table";

/// Options of `latlas import`.
#[derive(Args, Debug, Clone)]
pub struct ImportOptions {
    /// Result files, a criterion directory, a folder of records, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Input format
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = format())]
    pub format: ImportFormat,
    /// Name of the source (default: the file names; not for --format run)
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Add this machine's facts: it was measured here (not for --format run)
    #[arg(long)]
    pub here: bool,
    /// Print the Run document (JSON) instead of its id
    #[arg(long, alias = "json")]
    pub document: bool,
}

/// One of the formats, or the one that the content has.
#[derive(Debug, Clone, Copy)]
pub struct ImportFormat(pub(crate) Option<InputFormat>);

fn format() -> impl TypedValueParser<Value = ImportFormat> {
    let auto = PossibleValue::new("auto").help("Detected from the content");
    let value = |format: InputFormat| PossibleValue::new(format.option_name()).help(format.about());
    let values = std::iter::once(auto).chain(InputFormat::ALL.map(value));
    PossibleValuesParser::new(values).map(|name| ImportFormat(InputFormat::named(&name)))
}
