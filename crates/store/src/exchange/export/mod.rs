//! A run in another tool's format, a file for each format. `line.rs` makes the list of figures that all of
//! them write. Pure functions from a run to text; reading other tools' files is in `import/`.

mod bencher;
mod benchfmt;
mod benchmark_action;
mod csv;
mod fields;
mod github;
mod google_benchmark;
mod hyperfine;
mod jsonl;
mod line;
mod markdown;
mod openmetrics;
mod reference;

use line::{ExportLine, LeftOut, export_lines, messages};
use model::nearest::suggestion;
use model::pattern::pattern_matches;
use model::run::Run;
use serde::Serialize;
use serde_json::{Map, Value};

pub use reference::PersonalNames;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// A table for READMEs and issues.
    Markdown,
    /// RFC 4180, one record a figure.
    Csv,
    /// A JSON object a line for each row and point.
    JsonLines,
    /// What `--benchmark_out_format=json` writes.
    GoogleBenchmark,
    /// What `hyperfine --export-json` writes.
    Hyperfine,
    /// Bencher Metric Format.
    Bencher,
    /// Go's benchmark format.
    Benchfmt,
    /// Custom benchmarks of github-action-benchmark.
    BenchmarkAction,
    /// Gauges for Prometheus.
    OpenMetrics,
    /// Annotations of a GitHub workflow.
    Github,
    /// A Run document without samples and personal details.
    Reference,
}

/// A run in another format.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// The text, ending in a line feed.
    pub text: String,
    /// What the format has no place for, one line each: which row, and why.
    pub left_out: Vec<String>,
}

/// Why there is nothing to export.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ExportError {
    #[error("no row of this run matches {pattern:?}{suggestion} (`latlas show` lists them)")]
    NoRow {
        pattern: String,
        /// `; did you mean cpu.div_i32?`, or empty.
        suggestion: String,
    },
    #[error("this run has no rows")]
    Empty,
    #[error("{format} has no place for any of these rows: {first}")]
    Nothing { format: &'static str, first: String },
    #[error("this run can't be written as {format}: {reason}")]
    Unwritable { format: &'static str, reason: String },
}

impl ExportFormat {
    /// Every format, as the help lists them.
    pub const ALL: [ExportFormat; 11] = [
        ExportFormat::Markdown,
        ExportFormat::Csv,
        ExportFormat::JsonLines,
        ExportFormat::GoogleBenchmark,
        ExportFormat::Hyperfine,
        ExportFormat::Bencher,
        ExportFormat::Benchfmt,
        ExportFormat::BenchmarkAction,
        ExportFormat::OpenMetrics,
        ExportFormat::Github,
        ExportFormat::Reference,
    ];

    pub fn named(name: &str) -> Option<ExportFormat> {
        ExportFormat::ALL.into_iter().find(|format| format.option_name() == name)
    }

    /// As named on the command line.
    pub fn option_name(self) -> &'static str {
        self.texts().0
    }

    /// What it is, for the help.
    pub fn about(self) -> &'static str {
        self.texts().1
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            ExportFormat::Markdown => ("markdown", "A table for READMEs and issues"),
            ExportFormat::Csv => ("csv", "A record for each figure (RFC 4180)"),
            ExportFormat::JsonLines => ("jsonl", "A JSON object for each row, as --json prints"),
            ExportFormat::GoogleBenchmark => {
                ("google-benchmark", "JSON that Google Benchmark's compare.py reads")
            }
            ExportFormat::Hyperfine => ("hyperfine", "JSON that hyperfine's scripts read"),
            ExportFormat::Bencher => ("bencher", "Bencher Metric Format"),
            ExportFormat::Benchfmt => ("benchfmt", "Go's benchmark format, for benchstat"),
            ExportFormat::BenchmarkAction => {
                ("benchmark-action", "JSON for github-action-benchmark (customSmallerIsBetter)")
            }
            ExportFormat::OpenMetrics => ("openmetrics", "Gauges that Prometheus reads"),
            ExportFormat::Github => ("github", "Annotations of a GitHub workflow"),
            ExportFormat::Reference => {
                ("reference", "A record of this machine to publish, without personal details")
            }
        }
    }
}

/// Writes the rows of a run that one of the patterns names ([`pattern_matches`]; none for
/// all rows) in a format.
pub fn export(
    run: &Run,
    format: ExportFormat,
    patterns: &[String],
) -> Result<Exported, ExportError> {
    let known = KnownBeside { names: PersonalNames::default(), more: &|_| Map::new() };
    export_with(run, format, patterns, &known)
}

/// What the exporter knows beside the run.
pub struct KnownBeside<'k> {
    /// Names that no reference holds.
    pub names: PersonalNames,
    /// What the JSON object of a row has beside its figure, by the row's id.
    pub more: &'k dyn Fn(&str) -> Map<String, Value>,
}

/// The same, with what is known beside the run.
pub fn export_with(
    run: &Run,
    format: ExportFormat,
    patterns: &[String],
    known: &KnownBeside<'_>,
) -> Result<Exported, ExportError> {
    let mut lines = selected(run, patterns)?;
    let mut left_out: Vec<LeftOut> = Vec::new();
    // A table for people is of single figures, unless they ask for more.
    if format == ExportFormat::Markdown && patterns.is_empty() {
        left_out = without_points(&mut lines);
    }
    if format == ExportFormat::Hyperfine && patterns.is_empty() && run.commands.is_some() {
        left_out = hyperfine::without_parts(&mut lines);
    }
    let whole = |text| (text, Vec::new());
    let unwritable = |why: &dyn std::fmt::Display| ExportError::Unwritable {
        format: format.option_name(),
        reason: why.to_string(),
    };
    let written = match format {
        ExportFormat::Markdown => Ok(whole(markdown::to_markdown(run, &lines))),
        ExportFormat::Csv => Ok(whole(csv::to_csv(run, &lines))),
        ExportFormat::JsonLines => jsonl::to_jsonl(run, &lines, known.more).map(whole),
        ExportFormat::GoogleBenchmark => google_benchmark::to_google_benchmark(run, &lines),
        ExportFormat::Hyperfine => hyperfine::to_hyperfine(run, &lines),
        ExportFormat::Bencher => bencher::to_bencher(&lines),
        ExportFormat::Benchfmt => benchfmt::to_benchfmt(run, &lines),
        ExportFormat::BenchmarkAction => benchmark_action::to_benchmark_action(&lines),
        ExportFormat::OpenMetrics => openmetrics::to_openmetrics(run, &lines),
        ExportFormat::Github => github::to_github(run, &lines),
        ExportFormat::Reference => {
            let written = reference::to_reference(run, patterns, &known.names);
            let (text, left_out) = written.map_err(|why| unwritable(&why))?;
            return Ok(Exported { text, left_out });
        }
    };
    let (text, more) = written.map_err(|why| unwritable(&why))?;
    let nothing = !more.is_empty() && more.len() == lines.len();
    left_out.extend(more);
    let left_out = messages(left_out);
    match left_out.first() {
        Some(first) if nothing => {
            Err(ExportError::Nothing { format: format.option_name(), first: first.clone() })
        }
        _ => Ok(Exported { text, left_out }),
    }
}

/// A JSON object a line for each row, as `--json` prints a run; `more` adds to a row, by its id. Nothing for a run
/// without rows.
///
/// # Errors
/// That a value can't be written as JSON.
pub fn row_objects(
    run: &Run,
    more: impl Fn(&str) -> Map<String, Value>,
) -> serde_json::Result<String> {
    jsonl::to_jsonl(run, &export_lines(run), more)
}

/// A file, and what it has no place for.
type Written = serde_json::Result<(String, Vec<LeftOut>)>;

/// What becomes of each line, and the lines that the format has no place for.
fn each<'l, T>(
    lines: &'l [ExportLine<'l>],
    mut entry: impl FnMut(&'l ExportLine<'l>) -> Result<T, LeftOut>,
) -> (Vec<T>, Vec<LeftOut>) {
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    for line in lines {
        match entry(line) {
            Ok(entry) => entries.push(entry),
            Err(why) => left_out.push(why),
        }
    }
    (entries, left_out)
}

fn pretty(document: &impl Serialize, left_out: Vec<LeftOut>) -> Written {
    Ok((model::json::to_indented_json(document)? + "\n", left_out))
}

fn selected<'r>(run: &'r Run, patterns: &[String]) -> Result<Vec<ExportLine<'r>>, ExportError> {
    if run.rows.is_empty() {
        return Err(ExportError::Empty);
    }
    for pattern in patterns {
        if !run.rows.iter().any(|row| pattern_matches(pattern, &row.id)) {
            let ids = run.rows.iter().map(|row| row.id.as_str());
            return Err(ExportError::NoRow {
                pattern: pattern.clone(),
                suggestion: suggestion(pattern, ids),
            });
        }
    }
    let mut lines = export_lines(run);
    lines.retain(|line| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern_matches(pattern, &line.row.id))
    });
    Ok(lines)
}

/// Takes the points of curves and maps out, and says so.
fn without_points(lines: &mut Vec<ExportLine>) -> Vec<LeftOut> {
    let mut points = Vec::new();
    lines.retain(|line| {
        if !line.at.is_empty() {
            let id = &line.row.id;
            points.push(line.left_out_because(format!("of a curve; --rows '{id}' gives them")));
        }
        line.at.is_empty()
    });
    points
}

#[cfg(test)]
mod tests;
