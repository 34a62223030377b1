//! The columns of a run's tables: what each is headed by, and what it says of a figure. The tables
//! choose from them.

use super::Options;
use super::figures::{Shown, cycles, frames, human, shown_figure, typical, versus};
use compare::references::Reference;
use model::estimate::Estimate;
use model::run::{Row, Run};
use model::shown::typical_alone;
use model::story::{Cell, Column, Table, left, right};
use model::unit::Unit;

/// A figure that has a line.
pub(super) struct FigureLine<'r> {
    pub(super) name: String,
    pub(super) row: &'r Row,
    /// Its place on the axes of a curve or a map.
    pub(super) at: &'r [u64],
    pub(super) estimate: &'r Estimate,
}

impl FigureLine<'_> {
    fn unit(&self) -> &Unit {
        &self.row.unit
    }
}

/// A column and what it says.
pub(super) struct Said<'t> {
    column: Column,
    cell: Box<dyn Fn(&FigureLine) -> Cell + 't>,
}

/// A column with this heading.
pub(super) fn said<'t, C: Into<Cell>>(
    column: Column,
    cell: impl Fn(&FigureLine) -> C + 't,
) -> Said<'t> {
    Said { column, cell: Box::new(move |entry| cell(entry).into()) }
}

/// A table of these columns, still without lines.
pub(super) fn columns_table(columns: &[Said]) -> Table {
    Table::new(columns.iter().map(|said| said.column.clone()))
}

/// A line of it.
pub(super) fn figure_cells(columns: &[Said], entry: &FigureLine) -> Vec<Cell> {
    columns.iter().map(|said| (said.cell)(entry)).collect()
}

/// What it is called.
pub(super) fn name_column(heading: &str) -> Said<'static> {
    said(left(heading), |entry| entry.name.clone())
}

/// The quiet figure; the typical figure alone belongs into its own column, while there is room for
/// that.
pub(super) fn quiet() -> Said<'static> {
    said(right("quiet ±"), |entry| match shown_figure(entry.estimate, entry.unit()) {
        Shown::Figure(typical) if entry.estimate.quiet.is_none() => {
            let ns = entry.estimate.ns();
            let text = ns.map_or(typical.text(), |ns| typical_alone(&ns, entry.unit()));
            Cell::from("-").or_instead(format!("typical {text}"))
        }
        _ => Cell::estimate(entry.estimate, entry.unit()),
    })
}

/// The figure that stands for the row.
pub(super) fn time() -> Said<'static> {
    said(right("time ±"), |entry| Cell::estimate(entry.estimate, entry.unit()))
}

/// Clock cycles.
pub(super) fn cycle_count() -> Said<'static> {
    said(right("cycles"), |entry| cycles(entry.estimate))
}

/// The median of everything, with its quantiles.
pub(super) fn of_all_samples(column: Column) -> Said<'static> {
    said(column, |entry| typical(entry.estimate, entry.unit()))
}

/// Those on other scales that were asked for, and the published tables under their titles.
pub(super) fn asked<'t>(
    run: &'t Run,
    options: &Options,
    tables: &'t [&Reference],
    title: fn(&str) -> &str,
) -> Vec<Said<'t>> {
    let scaled = |heading, scale: fn(f64) -> String| {
        said(right(heading), move |entry| {
            let above = entry.estimate.ns().filter(|_| entry.estimate.below_ns.is_none());
            let time = above.filter(|_| *entry.unit() == Unit::Time);
            time.map_or(String::new(), |ns| scale(ns.value))
        })
    };
    let published = |table: &'t &Reference| {
        let cell = |entry: &FigureLine| versus(run, entry.row, entry.estimate, table);
        said(left(title(&table.key)), cell)
    };
    let human = options.human.then(|| scaled("1ns=1s", human));
    let frames = options.frames.then(|| scaled("frame", frames));
    human.into_iter().chain(frames).chain(tables.iter().map(published)).collect()
}

/// How far to trust it.
pub(super) fn verdict() -> Said<'static> {
    said(left("verdict"), |entry| {
        Cell::from(entry.estimate.verdict.text()).toned(entry.estimate.verdict)
    })
}
