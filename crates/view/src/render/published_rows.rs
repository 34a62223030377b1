//! A run's rows against what is published of this CPU, and their places among many machines.

use super::figures::ratio_digits;
use model::overview::OverviewLine;
use model::run::Run;
use model::share::range;
use model::stats::Interval;
use model::story::{Block, Table, left, right};
use references::comparison::{
    Agreement, PopulationName, PopulationPlace, PublishedRatio, RowAgainstPublished,
    published_of_run,
};
use references::machine::MatchCertainty;

/// What the column of the first screen means.
pub(super) const LEGEND: &str =
    "published: this CPU (~ a like one), or % of machines that are slower (--all).";
/// The same of a comparison.
const LEGEND_OF_SIDES: &str = "published: the CPU of A or B (~ a like one), or % of machines that are slower (latlas show RUN --all).";
/// A ratio below this has two decimals.
const NEAR_ONE: f64 = 1.1;

/// What is published of an operation, in a few characters: whether this CPU's figure agrees, else by how much it differs,
/// else a place among machines. Of a row with modes, the figure of its first large one.
pub(super) fn cell_of_line(rows: &[RowAgainstPublished], line: &OverviewLine) -> String {
    let known = rows.iter().find(|row| row.row == line.operation.row && line.is_of_row());
    known.map_or(String::new(), brief_text)
}

/// The same of any row.
fn brief_text(row: &RowAgainstPublished) -> String {
    match (&row.ratio, row.places.first()) {
        (Some(ratio), _) => ratio_text(ratio),
        (None, Some(place)) => range(place.slower.low, place.slower.high),
        (None, None) => String::new(),
    }
}

/// `agrees`, `1.2x slower`; of another CPU with a mark before it.
fn ratio_text(ratio: &PublishedRatio) -> String {
    let like = if is_of_like_cpu(ratio) { "~" } else { "" };
    let times = |ratio: f64| match ratio < NEAR_ONE {
        true => format!("{ratio:.2}x"),
        false => format!("{}x", ratio_digits(ratio)),
    };
    let value = ratio.ratio.value;
    match ratio.agreement {
        Agreement::Agrees => format!("{like}{}", ratio.agreement.word()),
        Agreement::Slower => format!("{like}{} {}", times(value), ratio.agreement.word()),
        Agreement::Faster => format!("{like}{} {}", times(1.0 / value), ratio.agreement.word()),
    }
}

/// Whether the published figure is of another CPU of the same microarchitecture.
fn is_of_like_cpu(ratio: &PublishedRatio) -> bool {
    ratio.published.certainty == MatchCertainty::Weak
}

/// Every row of a run that something is published of.
pub(crate) fn table_of_rows(run: &Run) -> Vec<Block> {
    let rows = match published_of_run(run) {
        Ok(rows) if rows.is_empty() => return Vec::new(),
        Ok(rows) => rows,
        Err(damaged) => return vec![Block::text(damaged.to_string())],
    };
    let mut table =
        Table::new([left("published"), right("x this CPU"), left(""), left("faster than")]);
    for row in &rows {
        let ratio = row.ratio.as_ref();
        table.row([
            row.row.clone().into(),
            ratio.map_or(String::new(), |ratio| ratio_with_interval(&ratio.ratio)).into(),
            ratio.map_or(String::new(), agreement_text).into(),
            row.places.first().map_or(String::new(), place_text).into(),
        ]);
    }
    vec![Block::Table(table)]
}

/// What is published of the wanted rows that two runs, or one of two sides, have.
pub fn published_of_sides(sides: [Option<&Run>; 2], wanted: impl Fn(&str) -> bool) -> Vec<Block> {
    let of_side = |run: Option<&Run>| run.map_or(Ok(Vec::new()), published_of_run);
    let (a, b) = match (of_side(sides[0]), of_side(sides[1])) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(damaged), _) | (_, Err(damaged)) => return vec![Block::text(damaged.to_string())],
    };
    let mut names: Vec<&str> = Vec::new();
    for row in a.iter().chain(&b).filter(|row| wanted(&row.row)) {
        if !names.contains(&row.row.as_str()) {
            names.push(&row.row);
        }
    }
    let mut table = Table::new([left("published"), left("A"), left("B")]);
    for name in &names {
        let text = |rows: &[RowAgainstPublished]| {
            let row = rows.iter().find(|row| row.row == *name);
            row.map_or(String::new(), brief_text)
        };
        table.row([(*name).into(), text(&a).into(), text(&b).into()]);
    }
    match names.is_empty() {
        true => Vec::new(),
        false => vec![Block::empty_line(), Block::Table(table), Block::text(LEGEND_OF_SIDES)],
    }
}

/// `1.3 [1.1 to 1.5]`
fn ratio_with_interval(ratio: &Interval) -> String {
    let [value, low, high] = [ratio.value, ratio.low, ratio.high].map(ratio_digits);
    format!("{value} [{low} to {high}]")
}

fn agreement_text(ratio: &PublishedRatio) -> String {
    let like = if is_of_like_cpu(ratio) { ", like CPU" } else { "" };
    format!("{}{like}", ratio.agreement.word())
}

fn place_text(place: &PopulationPlace) -> String {
    let slower = range(place.slower.low, place.slower.high);
    let of = match &place.population {
        PopulationName::CloudTypes => "cloud types",
        PopulationName::CpuSignatures => "CPUs",
        PopulationName::TestResults(test) => {
            let test = test.split(',').next().unwrap_or_default();
            return format!("{slower} of {} results of {test}", place.machines);
        }
    };
    format!("{slower} of {} {of}", place.machines)
}
