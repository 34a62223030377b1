//! Other tools' result files as Run documents.
//!
//! A file may be anything: it is read whole or not at all, within limits, and
//! what is wrong with it is told with its name, line and column.

mod criterion;
mod document;
pub mod files;
mod google_benchmark;
mod hyperfine;
mod json;
mod kept;
mod other_tools;
mod slug;
mod text;

pub use document::Origin;
pub use model::text::{cut, visible};
pub use text::MAX_FILE_BYTES;

use files::Input;
use json::{NotATime, Source, Time};
use model::run::Run;
use model::utc;
use std::collections::HashSet;
use std::fmt;

/// Rows of one import at most.
pub const MAX_ROWS: usize = 10_000;
/// Samples of one import at most, over all rows.
pub const MAX_SAMPLES: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `hyperfine --export-json`.
    Hyperfine,
    /// `--benchmark_out_format=json` of Google Benchmark.
    GoogleBenchmark,
    /// criterion's own files below `target/criterion`.
    Criterion,
    /// A Run document of latlas.
    Run,
}

impl Format {
    /// Every format, as the help lists them.
    pub const ALL: [Format; 4] =
        [Format::Hyperfine, Format::GoogleBenchmark, Format::Criterion, Format::Run];

    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// As named on the command line.
    pub fn name(self) -> &'static str {
        self.texts()[0]
    }

    /// What it is, for the help.
    pub fn about(self) -> &'static str {
        self.texts()[1]
    }

    /// What stands before the dot of its rows' ids.
    fn group(self) -> String {
        self.name().replace('-', "_")
    }

    fn program(self) -> &'static str {
        self.texts()[2]
    }

    fn texts(self) -> [&'static str; 3] {
        match self {
            Format::Hyperfine => ["hyperfine", "hyperfine --export-json", "hyperfine"],
            Format::GoogleBenchmark => {
                ["google-benchmark", "Google Benchmark's JSON", "Google Benchmark"]
            }
            Format::Criterion => ["criterion", "Files in target/criterion", "criterion"],
            Format::Run => ["run", "A Run document of latlas", "latlas"],
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
struct Fault {
    place: Option<(usize, usize)>,
    reason: String,
}

impl Fault {
    fn of_file(reason: impl fmt::Display) -> Fault {
        Fault { place: None, reason: reason.to_string() }
    }

    /// A fault at a line and column.
    fn at(place: (usize, usize), reason: impl fmt::Display) -> Fault {
        Fault { place: Some(place), reason: reason.to_string() }
    }

    fn in_file(self, file: &str) -> ImportError {
        ImportError { file: file.to_owned(), place: self.place, reason: self.reason }
    }
}

#[derive(Default)]
struct Found {
    rows: Vec<Measured>,
    version: Option<String>,
    measured_at: Option<String>,
    host_name: Option<String>,
    load_average: Option<[f64; 3]>,
    /// Anything else of the conditions, one sentence each.
    remarks: Vec<String>,
}

#[derive(Debug)]
struct Measured {
    /// As the file has it.
    name: String,
    /// Its place in the group, well formed; of one name always the same.
    slug: String,
    /// Which of several benchmarks of its name, where the file says so.
    number: Option<u32>,
    figure: FigureFound,
    notes: Vec<String>,
}

/// What a file has of a benchmark.
#[derive(Debug)]
enum FigureFound {
    /// Turns, and the time of all of them, ns.
    Samples(Vec<(u64, f64)>),
    /// One number that somebody computed, ns, and what it is (`median of 5
    /// repetitions`).
    Aggregate { ns: f64, what: String },
    /// It failed, with the reason.
    Failed(String),
}

impl FigureFound {
    /// The samples of a tool, if each is a time.
    fn of(samples: Result<Vec<(u64, f64)>, NotATime>, tool: &str) -> FigureFound {
        match samples {
            Ok(samples) => FigureFound::Samples(samples),
            Err(why) => FigureFound::Failed(format!("{tool}: {why}")),
        }
    }

    /// A figure that a tool computed, if it is a time.
    fn aggregate(time: Time, what: String, tool: &str) -> FigureFound {
        match time {
            Ok(ns) => FigureFound::Aggregate { ns, what },
            Err(why) => FigureFound::Failed(format!("{tool}: {why}")),
        }
    }
}

/// A run, unless it says that it is to come: it would be the newest until then.
fn begun(run: Run, now_unix_ms: u64) -> Result<Run, Fault> {
    if !crate::is_in_future(&run, now_unix_ms) {
        return Ok(run);
    }
    let began = utc::text(run.started_unix_ms);
    Err(Fault::of_file(format!(
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
    format: Option<Format>,
    origin: Origin,
) -> Result<Run, ImportError> {
    let mut formats = Vec::new();
    for input in inputs {
        formats.push(match format {
            Some(format) => format,
            None => detect(input).map_err(|fault| of_another_tool(fault, input))?,
        });
    }
    let Some(&format) = formats.first() else {
        return Err(Fault::of_file("no file was given").in_file("nothing"));
    };
    if let Some(other) = formats.iter().position(|f| *f != format) {
        let reason = format!(
            "it is of {} and {} of {}: import them one at a time",
            formats[other].name(),
            inputs[0].name(),
            format.name()
        );
        return Err(Fault::of_file(reason).in_file(inputs[other].name()));
    }
    if format == Format::Run {
        if origin.name.is_some() || origin.machine.is_some() {
            let reason = "a run says itself where it comes from and of which machine it is: \
                          leave out --name and --here";
            return Err(Fault::of_file(reason).in_file(inputs[0].name()));
        }
        return match inputs {
            [only] => kept::run(only)
                .and_then(|run| begun(run, origin.now_unix_ms))
                .map_err(|fault| of_another_tool(fault, only)),
            _ => Err(Fault::of_file("a run is whole in itself: import one at a time")
                .in_file(inputs[1].name())),
        };
    }
    let mut found: Vec<(&str, Found)> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    let (mut rows, mut samples) = (0, 0);
    for input in inputs {
        let of_file = of_input(input, format)?;
        let refuse = |reason: String| Err(Fault::of_file(reason).in_file(input.name()));
        if of_file.rows.is_empty() {
            return refuse("it holds no benchmark".into());
        }
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
        found.push((input.name(), of_file));
    }
    let sources = inputs.iter().map(|i| visible(i.name())).collect();
    document::run(format, found.into_iter().map(|(_, found)| found).collect(), sources, origin)
        .map_err(|reason| Fault::of_file(reason).in_file(inputs[0].name()))
}

impl Measured {
    fn samples(&self) -> usize {
        match &self.figure {
            FigureFound::Samples(samples) => samples.len(),
            _ => 0,
        }
    }
}

fn of_input(input: &Input, format: Format) -> Result<Found, ImportError> {
    match (input, format) {
        (Input::Criterion { benchmarks, .. }, Format::Criterion) => criterion::read(benchmarks),
        (Input::Criterion { name, .. }, other) => {
            Err(Fault::of_file(format!("it holds criterion's results, not {}'s", other.name()))
                .in_file(name))
        }
        (Input::File { bytes, .. }, format) => {
            let read = || {
                let source = Source::new(format, text::json(bytes)?);
                match format {
                    Format::Hyperfine => hyperfine::read(&source),
                    Format::Criterion => criterion::messages(&source),
                    _ => google_benchmark::read(&source),
                }
            };
            read().map_err(|fault| of_another_tool(fault, input))
        }
    }
}

/// A fault of a file, unless it is another tool's: then that is what is wrong with it.
fn of_another_tool(fault: Fault, input: &Input) -> ImportError {
    let tool = match input {
        Input::File { bytes, .. } if !matches!(detect(input), Ok(Format::Run)) => {
            other_tools::named(bytes)
        }
        _ => None,
    };
    tool.map_or(fault, Fault::of_file).in_file(input.name())
}

/// The format of an input, by the keys that only one of the formats has.
fn detect(input: &Input) -> Result<Format, Fault> {
    let bytes = match input {
        Input::Criterion { .. } => return Ok(Format::Criterion),
        Input::File { bytes, .. } => bytes,
    };
    if crate::is_packed(bytes) {
        return Ok(Format::Run);
    }
    let source = Source::new(Format::Run, text::json(bytes)?);
    let none = || Err(Fault::of_file("no format fits: its first value has no key of one"));
    let first = source.objects().next().unwrap_or_else(none)?;
    let of_key = [
        ("results", Format::Hyperfine),
        ("benchmarks", Format::GoogleBenchmark),
        ("schema", Format::Run),
        ("reason", Format::Criterion),
    ];
    let found = of_key.into_iter().find(|(key, _)| first.has(key));
    found.map(|(_, format)| format).ok_or_else(|| {
        Fault::of_file(format!(
            "it is JSON, but not a result of {}: none of the keys \"results\", \"benchmarks\", \"schema\" and \
             \"reason\" is in it (criterion's results are a directory)",
            other_tools::read()
        ))
    })
}

#[cfg(test)]
mod tests;
