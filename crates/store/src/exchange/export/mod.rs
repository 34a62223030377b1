//! A run in another tool's format.

mod bencher;
mod csv;
mod google_benchmark;
mod hyperfine;
mod jsonl;
mod line;
mod markdown;

use line::{LeftOut, Line, lines, messages};
use model::nearest::suggestion;
use model::pattern::names;
use model::run::Run;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table for READMEs and issues.
    Markdown,
    /// RFC 4180, one record a figure.
    Csv,
    /// One JSON object a figure and line.
    JsonLines,
    /// What `--benchmark_out_format=json` writes.
    GoogleBenchmark,
    /// What `hyperfine --export-json` writes.
    Hyperfine,
    /// Bencher Metric Format.
    Bencher,
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

impl Format {
    /// Every format, as the help lists them.
    pub const ALL: [Format; 6] = [
        Format::Markdown,
        Format::Csv,
        Format::JsonLines,
        Format::GoogleBenchmark,
        Format::Hyperfine,
        Format::Bencher,
    ];

    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// As named on the command line.
    pub fn name(self) -> &'static str {
        self.texts().0
    }

    /// What it is, for the help.
    pub fn about(self) -> &'static str {
        self.texts().1
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Format::Markdown => ("markdown", "A table for READMEs and issues"),
            Format::Csv => ("csv", "A record for each figure (RFC 4180)"),
            Format::JsonLines => ("jsonl", "A JSON object for each figure"),
            Format::GoogleBenchmark => {
                ("google-benchmark", "JSON that Google Benchmark's compare.py reads")
            }
            Format::Hyperfine => ("hyperfine", "JSON that hyperfine's scripts read"),
            Format::Bencher => ("bencher", "Bencher Metric Format"),
        }
    }
}

/// Writes the rows of a run that one of the patterns names ([`names`]; none for
/// all rows) in a format.
pub fn export(run: &Run, format: Format, patterns: &[String]) -> Result<Exported, ExportError> {
    let mut lines = selected(run, patterns)?;
    let mut left_out: Vec<LeftOut> = Vec::new();
    // A table for people is of single figures, unless they ask for more.
    if format == Format::Markdown && patterns.is_empty() {
        left_out = without_points(&mut lines);
    }
    if format == Format::Hyperfine && patterns.is_empty() && run.commands.is_some() {
        left_out = hyperfine::without_parts(&mut lines);
    }
    let whole = |text| (text, Vec::new());
    let written = match format {
        Format::Markdown => Ok(whole(markdown::text(run, &lines))),
        Format::Csv => csv::text(run, &lines).map(whole),
        Format::JsonLines => jsonl::text(run, &lines).map(whole),
        Format::GoogleBenchmark => google_benchmark::text(run, &lines),
        Format::Hyperfine => hyperfine::text(run, &lines),
        Format::Bencher => bencher::text(&lines),
    };
    let (text, more) = written.map_err(|reason| ExportError::Unwritable {
        format: format.name(),
        reason: reason.to_string(),
    })?;
    let nothing = !more.is_empty() && more.len() == lines.len();
    left_out.extend(more);
    let left_out = messages(left_out);
    match left_out.first() {
        Some(first) if nothing => {
            Err(ExportError::Nothing { format: format.name(), first: first.clone() })
        }
        _ => Ok(Exported { text, left_out }),
    }
}

/// A file, and what it has no place for.
type Written = serde_json::Result<(String, Vec<LeftOut>)>;

/// What becomes of each line, and the lines that the format has no place for.
fn each<'l, T>(
    lines: &'l [Line<'l>],
    mut entry: impl FnMut(&'l Line<'l>) -> Result<T, LeftOut>,
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
    Ok((serde_json::to_string_pretty(document)? + "\n", left_out))
}

fn selected<'r>(run: &'r Run, patterns: &[String]) -> Result<Vec<Line<'r>>, ExportError> {
    if run.rows.is_empty() {
        return Err(ExportError::Empty);
    }
    for pattern in patterns {
        if !run.rows.iter().any(|row| names(pattern, &row.id)) {
            let ids = run.rows.iter().map(|row| row.id.as_str());
            return Err(ExportError::NoRow {
                pattern: pattern.clone(),
                suggestion: suggestion(pattern, ids),
            });
        }
    }
    let mut lines = lines(run);
    lines.retain(|line| {
        patterns.is_empty() || patterns.iter().any(|pattern| names(pattern, &line.row.id))
    });
    Ok(lines)
}

/// Takes the points of curves and maps out, and says so.
fn without_points(lines: &mut Vec<Line>) -> Vec<LeftOut> {
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
