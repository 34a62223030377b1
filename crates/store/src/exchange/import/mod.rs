//! Other tools' result files as Run documents.
//!
//! A file may be anything: it is read whole or not at all, within limits, and
//! what is wrong with it is told with its name, line and column.

mod bencher;
mod benchmark_action;
mod benchmark_dotnet;
mod criterion;
mod detect;
mod divan;
mod document;
mod file_checks;
pub mod files;
mod go_test;
mod google_benchmark;
mod hyperfine;
mod jmh;
mod json;
mod kept;
mod other_tools;
mod pytest_benchmark;
mod slug;

pub use document::Origin;
pub use file_checks::MAX_FILE_BYTES;
pub use model::phrases::cut;
pub use model::printable::visible;

use detect::detect;
use files::Input;
use json::{JsonSource, NotATime, Time};
use model::run::Run;
use model::utc;
use std::collections::HashSet;
use std::fmt;

/// Rows of one import at most.
pub const MAX_ROWS: usize = 10_000;
/// Samples of one import at most, over all rows.
pub const MAX_SAMPLES: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// `hyperfine --export-json`.
    Hyperfine,
    /// `--benchmark_out_format=json` of Google Benchmark.
    GoogleBenchmark,
    /// criterion's own files below `target/criterion`.
    Criterion,
    /// Lines of `go test -bench`, also within `go test -json`.
    GoTest,
    /// `pytest --benchmark-json`.
    PytestBenchmark,
    /// `-rf json` of JMH.
    Jmh,
    /// `*-report-full.json` of BenchmarkDotNet.
    BenchmarkDotNet,
    /// The tree that divan prints.
    Divan,
    /// Bencher Metric Format.
    Bencher,
    /// Custom benchmarks of github-action-benchmark.
    BenchmarkAction,
    /// A Run document of latlas.
    Run,
}

impl InputFormat {
    /// Every format, as the help lists them.
    pub const ALL: [InputFormat; 11] = [
        InputFormat::Hyperfine,
        InputFormat::GoogleBenchmark,
        InputFormat::Criterion,
        InputFormat::GoTest,
        InputFormat::PytestBenchmark,
        InputFormat::Jmh,
        InputFormat::BenchmarkDotNet,
        InputFormat::Divan,
        InputFormat::Bencher,
        InputFormat::BenchmarkAction,
        InputFormat::Run,
    ];

    pub fn named(name: &str) -> Option<InputFormat> {
        InputFormat::ALL.into_iter().find(|format| format.option_name() == name)
    }

    /// As named on the command line.
    pub fn option_name(self) -> &'static str {
        self.texts()[0]
    }

    /// What it is, for the help.
    pub fn about(self) -> &'static str {
        self.texts()[1]
    }

    /// What stands before the dot of its rows' ids.
    fn group(self) -> String {
        self.option_name().replace('-', "_")
    }

    fn program(self) -> &'static str {
        self.texts()[2]
    }

    fn texts(self) -> [&'static str; 3] {
        match self {
            InputFormat::Hyperfine => ["hyperfine", "hyperfine --export-json", "hyperfine"],
            InputFormat::GoogleBenchmark => {
                ["google-benchmark", "Google Benchmark's JSON", "Google Benchmark"]
            }
            InputFormat::Criterion => ["criterion", "Files in target/criterion", "criterion"],
            InputFormat::GoTest => ["go-test", "go test -bench, also with -json", "go test"],
            InputFormat::PytestBenchmark => {
                ["pytest-benchmark", "pytest --benchmark-json", "pytest-benchmark"]
            }
            InputFormat::Jmh => ["jmh", "JMH's -rf json", "JMH"],
            InputFormat::BenchmarkDotNet => [
                "benchmark-dotnet",
                "BenchmarkDotNet's JSON (*-report-full.json)",
                "BenchmarkDotNet",
            ],
            InputFormat::Divan => ["divan", "What divan prints", "divan"],
            InputFormat::Bencher => ["bencher", "Bencher Metric Format", "Bencher"],
            InputFormat::BenchmarkAction => [
                "benchmark-action",
                "github-action-benchmark's custom JSON",
                "github-action-benchmark",
            ],
            InputFormat::Run => ["run", "A Run document of latlas", "latlas"],
        }
    }
}

/// Why a value, as the file has it, can't be a time of a benchmark.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
enum UnfitValue {
    #[error("{0} is negative, and a time is not")]
    Negative(String),
    #[error("a time of {0} {1} is longer than any measurement (115 days)")]
    LongTime(String, &'static str),
}

/// Why a file is not imported, in one line.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportError {
    /// The file, as the user named it.
    pub file: String,
    /// Line and column, counted from 1, where the fault has a place.
    pub place: Option<(usize, usize)>,
    pub reason: String,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't import {}: ", visible(&self.file))?;
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&visible(&self.reason))
    }
}

impl std::error::Error for ImportError {}

/// What is wrong with a file, and where.
#[derive(Debug, PartialEq)]
struct ImportFault {
    place: Option<(usize, usize)>,
    reason: String,
}

impl ImportFault {
    fn of_file(reason: impl fmt::Display) -> ImportFault {
        ImportFault { place: None, reason: reason.to_string() }
    }

    /// A fault at a line and column.
    fn at(place: (usize, usize), reason: impl fmt::Display) -> ImportFault {
        ImportFault { place: Some(place), reason: reason.to_string() }
    }

    fn in_file(self, file: &str) -> ImportError {
        ImportError { file: file.to_owned(), place: self.place, reason: self.reason }
    }
}

#[derive(Default)]
struct ImportedFile {
    rows: Vec<Measured>,
    version: Option<String>,
    measured_at: Option<String>,
    host_name: Option<String>,
    load_average: Option<[f64; 3]>,
    /// Anything else of the conditions, one sentence each.
    remarks: Vec<String>,
}

/// A benchmark of a file.
#[derive(Debug)]
pub struct Measured {
    /// As the file has it.
    pub name: String,
    /// Its place in the group, well formed; of one name always the same.
    slug: String,
    /// Which of several benchmarks of its name, where the file says so.
    number: Option<u32>,
    pub figure: FigureFound,
    notes: Vec<String>,
}

/// What a file has of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureFound {
    /// Turns, and the time of all of them, ns.
    Samples(Vec<(u64, f64)>),
    /// One number that somebody computed, ns, and what it is (`median of 5
    /// repetitions`), with the fastest and the slowest sample where the file has them.
    Aggregate { ns: f64, what: String, range_ns: Option<[f64; 2]> },
    /// It failed, with the reason.
    Failed(String),
}

impl FigureFound {
    /// The samples of a tool, if each is a time.
    fn from_samples(samples: Result<Vec<(u64, f64)>, NotATime>, tool: &str) -> FigureFound {
        match samples {
            Ok(samples) => FigureFound::Samples(samples),
            Err(why) => FigureFound::Failed(format!("{tool}: {why}")),
        }
    }

    /// A figure that a tool computed, if it is a time.
    fn aggregate(time: Time, what: String, tool: &str) -> FigureFound {
        match time {
            Ok(ns) => FigureFound::Aggregate { ns, what, range_ns: None },
            Err(why) => FigureFound::Failed(format!("{tool}: {why}")),
        }
    }
}

/// A run, unless it says that it is to come: it would be the newest until then.
fn begun(run: Run, now_unix_ms: u64) -> Result<Run, ImportFault> {
    if !crate::is_in_future(&run, now_unix_ms) {
        return Ok(run);
    }
    let began = utc::readable_utc(run.started_unix_ms);
    Err(ImportFault::of_file(format!(
        "its start time {began} is in the future: set the clock of its machine, and measure \
         again"
    )))
}

/// Reads inputs of one format into one run.
///
/// # Errors
/// With the first fault of any of them: nothing is taken in part.
pub fn import(
    inputs: &[Input],
    format: Option<InputFormat>,
    origin: Origin,
) -> Result<Run, ImportError> {
    let mut formats = Vec::new();
    for input in inputs {
        formats.push(match format {
            Some(format) => format,
            None => detect(input).map_err(|fault| of_another_tool(fault, input, None))?,
        });
    }
    let Some(&format) = formats.first() else {
        return Err(ImportFault::of_file("no file was given").in_file("nothing"));
    };
    if let Some(other) = formats.iter().position(|f| *f != format) {
        let reason = format!(
            "it is of {} and {} of {}: import them one at a time",
            formats[other].option_name(),
            inputs[0].display_name(),
            format.option_name()
        );
        return Err(ImportFault::of_file(reason).in_file(inputs[other].display_name()));
    }
    if format == InputFormat::Run {
        if origin.name.is_some() || origin.machine.is_some() {
            let reason = "a run names its own origin and machine: leave out --name and --here";
            return Err(ImportFault::of_file(reason).in_file(inputs[0].display_name()));
        }
        return match inputs {
            [only] => kept::kept_run(only)
                .and_then(|run| begun(run, origin.now_unix_ms))
                .map_err(|fault| of_another_tool(fault, only, Some(format))),
            _ => Err(ImportFault::of_file("a run is whole in itself: import one at a time")
                .in_file(inputs[1].display_name())),
        };
    }
    let mut found: Vec<(&str, ImportedFile)> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    let (mut rows, mut samples) = (0, 0);
    for input in inputs {
        let of_file = of_input(input, format)?;
        let refuse =
            |reason: String| Err(ImportFault::of_file(reason).in_file(input.display_name()));
        rows += of_file.rows.len();
        samples += of_file.rows.iter().map(Measured::samples).sum::<usize>();
        if rows > MAX_ROWS || samples > MAX_SAMPLES {
            return refuse(format!(
                "more than {MAX_ROWS} benchmarks or {MAX_SAMPLES} samples in one import"
            ));
        }
        // Two files with one benchmark are two runs to compare, not one.
        let own: HashSet<String> = of_file.rows.iter().map(|m| m.name.clone()).collect();
        if let Some(name) = own.iter().filter(|name| names.contains(*name)).min() {
            return refuse(format!(
                "{:?} is also in a file before it: import each in a run of its own",
                cut(name)
            ));
        }
        names.extend(own);
        found.push((input.display_name(), of_file));
    }
    let sources = inputs.iter().map(|i| visible(i.display_name())).collect();
    document::imported_run(
        format,
        found.into_iter().map(|(_, found)| found).collect(),
        sources,
        origin,
    )
    .map_err(|reason| ImportFault::of_file(reason).in_file(inputs[0].display_name()))
}

/// The benchmarks of one input, for those who run the tool that wrote it: there may be none.
///
/// # Errors
/// As [`import`].
pub fn measured(input: &Input, format: InputFormat) -> Result<Vec<Measured>, ImportError> {
    let found = match input {
        Input::File { bytes, .. } => {
            file_of(bytes, format).map_err(|fault| of_another_tool(fault, input, Some(format)))
        }
        Input::Criterion { .. } => of_input(input, format),
    };
    found.map(|found| found.rows)
}

impl Measured {
    fn samples(&self) -> usize {
        match &self.figure {
            FigureFound::Samples(samples) => samples.len(),
            _ => 0,
        }
    }
}

fn of_input(input: &Input, format: InputFormat) -> Result<ImportedFile, ImportError> {
    match (input, format) {
        (Input::Criterion { benchmarks, .. }, InputFormat::Criterion) => {
            criterion::read_criterion(benchmarks)
        }
        (Input::Criterion { name, .. }, other) => Err(ImportFault::of_file(format!(
            "it holds criterion's results, not {}'s",
            other.option_name()
        ))
        .in_file(name)),
        (Input::File { bytes, .. }, format) => {
            let found = file_of(bytes, format).and_then(|found| match found.rows.is_empty() {
                true => Err(ImportFault::of_file("it holds no benchmark")),
                false => Ok(found),
            });
            found.map_err(|fault| of_another_tool(fault, input, Some(format)))
        }
    }
}

/// What a file of a tool holds.
fn file_of(bytes: &[u8], format: InputFormat) -> Result<ImportedFile, ImportFault> {
    let source = || file_checks::json(bytes).map(|text| JsonSource::new(format, text));
    match format {
        InputFormat::Divan => divan::read_divan(file_checks::text(bytes)?),
        InputFormat::GoTest => match file_checks::text(bytes)? {
            text if text.starts_with('{') => {
                go_test::read_go_test(&go_test::unwrapped(&source()?)?)
            }
            text => go_test::read_go_test(text),
        },
        InputFormat::Hyperfine => hyperfine::read_hyperfine(&source()?),
        InputFormat::GoogleBenchmark => google_benchmark::read_google_benchmark(&source()?),
        InputFormat::Criterion => criterion::messages(&source()?),
        InputFormat::PytestBenchmark => pytest_benchmark::read_pytest_benchmark(&source()?),
        InputFormat::Jmh => jmh::read_jmh(&source()?),
        InputFormat::BenchmarkDotNet => benchmark_dotnet::read_benchmark_dotnet(&source()?),
        InputFormat::Bencher => bencher::read_bencher(&source()?),
        InputFormat::BenchmarkAction => benchmark_action::read_benchmark_action(&source()?),
        InputFormat::Run => Err(ImportFault::of_file("a run is read whole, not by its rows")),
    }
}

/// A fault of a file that was read as one of `format`, unless it is another tool's: then that is what is wrong with it.
fn of_another_tool(fault: ImportFault, input: &Input, format: Option<InputFormat>) -> ImportError {
    let Input::File { bytes, .. } = input else { return fault.in_file(input.display_name()) };
    let reason = match (other_tools::recognized_tool(bytes), detect(input), format) {
        // Whatever its texts hold.
        (_, Ok(InputFormat::Run), _) => None,
        (Some(tool), ..) => Some(tool),
        (None, Ok(found), Some(asked)) if found != asked => {
            let (program, name) = (found.program(), found.option_name());
            Some(format!("this is a result of {program}: use --format {name}"))
        }
        _ => None,
    };
    reason.map_or(fault, ImportFault::of_file).in_file(input.display_name())
}

#[cfg(test)]
mod tests;
