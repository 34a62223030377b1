//! The picture that somebody means by a name: its own id, a row, or a probe.

use super::distribution::of_row;
use super::of_run::{LeftOut, one_value, pictures};
use super::source::{OtherRun, Picture};
use super::{Body, Chart, Dot};
use compare::references::References;
use model::nearest::suggestion;
use model::pattern::pattern_matches;
use model::run::Run;

/// Why there is no such picture.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PickError {
    #[error("{id} can't be drawn of this run: {why}")]
    Nothing { id: String, why: String },
    #[error("no picture and no row is called {name:?}{suggestion} (pictures of this run: {all})")]
    Unknown { name: String, suggestion: String, all: String },
    #[error("{id} has no row {pattern:?} to show")]
    NoRow { id: String, pattern: String },
}

/// The picture of a run that a name means: one whose id it is, else the one
/// that draws the row or the probe, else the samples of a row, else its lines
/// of the ladder.
pub fn pick(
    run: &Run,
    references: &References,
    others: &[OtherRun],
    name: &str,
) -> Result<Chart, PickError> {
    let (all, left_out) = pictures(run, references, others);
    if let Some(picture) = all.iter().find(|p| p.chart.id == name) {
        return Ok(picture.chart.clone());
    }
    if let Some(LeftOut { id, why }) = left_out.into_iter().find(|l| l.id == name) {
        return Err(PickError::Nothing { id, why });
    }
    if name == "comparison" && others.is_empty() {
        return Err(PickError::Nothing {
            id: name.to_owned(),
            why: "there is no other run to compare with: --vs names one".into(),
        });
    }
    let draws = |p: &&Picture| p.rows.iter().any(|row| pattern_matches(name, row));
    let own = |p: &&Picture| !matches!(section(&p.chart), PictureScope::OfAll);
    if let Some(picture) = all.iter().filter(own).find(draws) {
        return Ok(picture.chart.clone());
    }
    // One row alone: its samples say most, its place on the ladder the rest.
    let samples = run.row(name).map(|_| of_row(run, name));
    if let Some(Ok(picture)) = samples {
        return Ok(picture.chart);
    }
    let unknown = || {
        let ids: Vec<&str> = all.iter().map(|p| p.chart.id.as_str()).collect();
        let rows = run.rows.iter().map(|row| row.id.as_str());
        PickError::Unknown {
            name: name.to_owned(),
            suggestion: suggestion(name, ids.iter().copied().chain(rows)),
            all: ids.join(", "),
        }
    };
    let on_ladder = all.iter().find(draws).ok_or_else(|| match samples {
        Some(Err(why)) => PickError::Nothing { id: name.to_owned(), why },
        _ => unknown(),
    })?;
    line_of(on_ladder, name)
}

/// The row's line of the ladder, which others' figures stand on; `None` where it has none.
pub fn ladder_line(
    run: &Run,
    references: &References,
    others: &[OtherRun],
    row: &str,
) -> Option<Chart> {
    let (all, _) = pictures(run, references, others);
    let ladder = all.iter().find(|picture| picture.rows.iter().any(|known| known == row))?;
    line_of(ladder, row).ok()
}

/// A picture of lines with the one of a row.
fn line_of(on_ladder: &Picture, name: &str) -> Result<Chart, PickError> {
    let mut chart = only(on_ladder.chart.clone(), &[name.to_owned()])?;
    if let Some(why) = without_figures(&chart).or_else(|| one_value(&chart)) {
        let id = name.to_owned();
        return Err(PickError::Nothing { id, why });
    }
    chart.id = name.replace('/', ".");
    chart.title = name.to_owned();
    chart.notes.clear();
    Ok(chart)
}

/// Why nothing would be drawn, if none of the lines has any figure.
fn without_figures(chart: &Chart) -> Option<String> {
    let Body::Dots(dots) = &chart.body else {
        return None;
    };
    let empty = |dot: &Dot| dot.value.is_none() && dot.others.is_empty();
    let first = dots.rows.first().filter(|_| dots.rows.iter().all(empty))?;
    Some(first.reason.clone())
}

/// Whether a picture is of single rows' own, or of all rows together.
enum PictureScope {
    Own,
    OfAll,
}

fn section(chart: &Chart) -> PictureScope {
    match chart.section {
        super::Section::Ladder | super::Section::Comparison => PictureScope::OfAll,
        _ => PictureScope::Own,
    }
}

/// A picture of lines (the ladder, a comparison) with only those that are
/// named: ids, probes, or patterns with `*` and `?`.
pub fn only(mut chart: Chart, patterns: &[String]) -> Result<Chart, PickError> {
    let no_row =
        |pattern: &String| PickError::NoRow { id: chart.id.clone(), pattern: pattern.clone() };
    let Body::Dots(dots) = &chart.body else {
        return match patterns.first() {
            Some(pattern) => Err(no_row(pattern)),
            None => Ok(chart),
        };
    };
    for pattern in patterns {
        if !dots.rows.iter().any(|dot| pattern_matches(pattern, &dot.id)) {
            return Err(no_row(pattern));
        }
    }
    if let Body::Dots(dots) = &mut chart.body
        && !patterns.is_empty()
    {
        let all = dots.rows.len();
        dots.rows.retain(|dot| patterns.iter().any(|pattern| pattern_matches(pattern, &dot.id)));
        if dots.rows.len() < all {
            let shown = dots.rows.len();
            let note = format!("Showing {shown} of {all} rows; totals include all rows.");
            chart.notes.insert(0, note);
        }
    }
    Ok(chart)
}
