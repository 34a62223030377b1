//! This machine's figure in a published table.

use super::super::figures::{
    Shown, number_of_digits, published as published_text, ratio_text, shown_figure,
};
use super::notes::Notes;
use compare::references::ComparisonRule;
use compare::tables::{Measured, PublishedFigure, TableRow};
use model::figure::{leaves_a_digit, time};
use model::share::half;
use model::stats::Interval;
use model::story::{Cell, Table};
use model::unit::Unit;

/// Stands for a figure whose interval supports no digit of it.
pub(super) const UNCERTAIN: &str = "uncertain";

/// Whether it is such a figure.
pub(super) fn is_uncertain(ours: &Measured) -> bool {
    ours.below_ns.is_none() && !leaves_a_digit(&ours.ns)
}

/// What is known of such a figure.
fn uncertain_interval(ns: &Interval) -> String {
    match ns.low > 0.0 {
        true => format!("{UNCERTAIN}: {} to {} (95 % interval)", time(ns.low), time(ns.high)),
        false => format!("{UNCERTAIN}: up to {} (95 % interval)", time(ns.high)),
    }
}

/// The figure and half of its interval, in the row's unit; a speed where the
/// publication gives one.
pub(super) fn our_figure(row: &TableRow, ours: &Measured) -> Cell {
    let speed = row.published.iter().flatten().any(|p| p.figure.mb_per_s.is_some());
    let unit = match ours.bytes.filter(|_| speed) {
        Some(bytes) => Unit::Bandwidth { bytes_per_op: bytes as f64 },
        None => ours.unit,
    };
    match shown_figure(&ours.estimate, &unit) {
        Shown::Figure(_) if is_uncertain(ours) => UNCERTAIN.into(),
        Shown::Figure(f) => Cell::digits(f.number_and_half()),
        _ => Cell::estimate(&ours.estimate, &unit),
    }
}

/// A published figure with its ratio or mark.
pub(super) fn published(row: &TableRow, at: usize) -> Cell {
    let published = row.published[at].as_ref();
    let text = published.map(|published| {
        let figure = published_text(published.reference_row());
        format!("{figure:>7} {:>5}", mark(row, published))
    });
    text.unwrap_or_default().into()
}

/// Adds a row that ends with its verdict, and the notes on it.
pub(super) fn add_our_row(
    table: &mut Table,
    mut cells: Vec<Cell>,
    row: &TableRow,
    notes: &mut Notes,
) {
    let measured = row.shown();
    let verdict = Cell::from(verdict(row, notes));
    cells.push(match measured {
        Some(measured) => verdict.toned(measured.verdict),
        None => verdict,
    });
    table.row(cells);
    if notes.is_new(row) {
        for text in below(row, notes) {
            table.note("      └ ", text);
        }
    }
    if let Some(measured) = measured {
        notes.remember_figure(row, measured);
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
    let shown = row.shown_like();
    for like in &row.likes {
        match like.here.measured() {
            Some(_) if shown.is_some_and(|shown| shown.id == like.id) => {
                let why = notes.why(row).unwrap_or_default();
                lines.push(format!("~ {}; {} {why}", like.id, row.id));
            }
            Some(measured) => {
                let figure = our_figure(row, measured).text();
                let verdict = measured.verdict.text();
                lines.push(format!("~ {} {figure} ({verdict})", like.id));
            }
            None if row.shown().is_some() => {}
            None => {
                let why = notes.number_for(&like.here).unwrap_or_default();
                lines.push(format!("~ {} {why}", like.id));
            }
        }
    }
    if let Some(measured) = row.shown() {
        lines.extend(is_uncertain(measured).then(|| uncertain_interval(&measured.ns)));
        lines.push(measured.reason.clone());
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// What stands behind a published figure: its ratio, or why there is none.
pub(super) fn mark(row: &TableRow, published: &PublishedFigure) -> String {
    let of = published.reference_row();
    if !of.has_figure() {
        return String::new();
    }
    if published.doubtful.is_some() {
        return "?".into();
    }
    match published.ratio {
        Some(ratio) => {
            let other_code = if row.library.is_some() { "~" } else { "" };
            format!("{other_code}{}", ratio_text(ratio))
        }
        None if row.shown_like().is_some() || of.own_rule() == ComparisonRule::Near => "~".into(),
        None => String::new(),
    }
}

/// What the table calls a row, with whose code its figure is of where that is not the
/// publication's.
pub(super) fn row_name(row: &TableRow) -> String {
    match row.library {
        Some(library) => format!("{} ({library})", row.name),
        None => row.name.clone(),
    }
}

/// ns each as a plain number, and half of the interval in percent.
pub(super) fn plain(ours: &Measured) -> [String; 2] {
    match ours.below_ns {
        None if is_uncertain(ours) => [UNCERTAIN.into(), String::new()],
        Some(_) => [below_ns(ours), String::new()],
        None => [
            number_of_digits(ours.ns.value, ours.ns.half_width()),
            half(ours.ns.relative_half_width()),
        ],
    }
}

/// `< 0.0083`: what is not distinguishable from 0.
fn below_ns(ours: &Measured) -> String {
    match shown_figure(&ours.estimate, &Unit::Time) {
        Shown::Below(text) => text.trim_end_matches(" ns").to_owned(),
        _ => "-".into(),
    }
}
