//! This machine's figure in a published table.

use super::super::figures::{Shown, beside_text, number_of_digits, shown};
use super::notes::Notes;
use compare::tables::{Here, Measured, PublishedFigure, TableRow};
use model::share::half;
use model::story::{Cell, Table};
use model::unit::Unit;

/// The figure and half of its interval, in the row's unit; a speed where the
/// publication gives one.
pub(super) fn figure(row: &TableRow, ours: &Measured) -> Cell {
    let speed = row.published.iter().flatten().any(|p| p.figure.mb_per_s.is_some());
    let unit = match ours.bytes.filter(|_| speed) {
        Some(bytes) => Unit::Bandwidth { bytes_per_op: bytes as f64 },
        None => ours.unit,
    };
    match shown(&ours.estimate, &unit) {
        Shown::Figure(f) => Cell::digits(f.parts()),
        _ => Cell::estimate(&ours.estimate, &unit),
    }
}

/// A published figure with its ratio or mark.
pub(super) fn published(row: &TableRow, at: usize) -> Cell {
    let published = row.published[at].as_ref();
    let text = published.map(|published| beside_text(published.row(), &mark(row, published)));
    text.unwrap_or_default().into()
}

/// Adds a row that ends with its verdict, and the notes on it.
pub(super) fn row(table: &mut Table, mut cells: Vec<Cell>, row: &TableRow, notes: &mut Notes) {
    let measured = row.shown();
    let verdict = Cell::from(verdict(row, notes));
    cells.push(match measured {
        Some(measured) => verdict.toned(measured.verdict),
        None => verdict,
    });
    table.row(cells);
    for text in below(row, notes) {
        table.note("      └ ", text);
    }
    if let Some(measured) = measured {
        notes.figure(row, measured);
    }
}

/// The last word on a row: the verdict of the figure shown, else the number of
/// the note that says why there is none.
fn verdict(row: &TableRow, notes: &mut Notes) -> String {
    match row.shown() {
        Some(measured) => measured.verdict.text().into(),
        None => notes.why(row).unwrap_or_default(),
    }
}

/// What stands below a row: whose figure it is, and why it is not ok.
fn below(row: &TableRow, notes: &mut Notes) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(like) = &row.like {
        match (&row.here, like.here.measured()) {
            (Here::Measured(_), Some(measured)) => {
                let figure = figure(row, measured).text();
                let verdict = measured.verdict.text();
                lines.push(format!("~ {} {figure} ({verdict})", like.id));
            }
            (Here::Measured(_), None) => {}
            (_, Some(_)) => {
                let why = notes.why(row).unwrap_or_default();
                lines.push(format!("~ {}; {} {why}", like.id, row.id));
            }
            (_, None) => {
                let why = notes.of(&like.here).unwrap_or_default();
                lines.push(format!("~ {} {why}", like.id));
            }
        }
    }
    if let Some(measured) = row.shown() {
        lines.push(measured.reason.clone());
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// What stands behind a published figure: its ratio, or why there is none.
pub(super) fn mark(row: &TableRow, published: &PublishedFigure) -> String {
    if !published.row().has_figure() {
        return String::new();
    }
    if published.doubtful.is_some() {
        return "?".into();
    }
    match published.ratio {
        Some(ratio) => super::super::figures::ratio_text(ratio),
        None if row.shows_like() => "~".into(),
        None => String::new(),
    }
}

/// ns each as a plain number, and half of the interval in percent.
pub(super) fn plain(ours: &Measured) -> [String; 2] {
    match ours.below_ns {
        Some(_) => [below_ns(ours), String::new()],
        None => [
            number_of_digits(ours.ns.value, ours.ns.half_width()),
            half(ours.ns.relative_half_width()),
        ],
    }
}

/// `< 0.0083`: what can't be told from nothing.
fn below_ns(ours: &Measured) -> String {
    match shown(&ours.estimate, &Unit::Time) {
        Shown::Below(text) => text.trim_end_matches(" ns").to_owned(),
        _ => "-".into(),
    }
}
