//! Ash's columns: name, iterations, total time, ns each, in his order.

use super::super::COLUMNS;
use super::super::figures::beside_text;
use super::super::layout::{Entry, Grid, Style, keeps_to, left, right, wrap};
use super::notes::Notes;
use super::{column_name, ours};
use crate::tables::{Measured, Table, TablePart, TableRow};
use model::figure::decimals;

/// Widths that names are broken at, the first that lets the table fit.
const NAME_WIDTHS: [usize; 4] = [29, 26, 22, 18];

/// The part, row by row as published.
pub(super) fn part(table: &Table, part: &TablePart, notes: &mut Notes) -> String {
    // Columns beside the usual ones are asked for, and come on top.
    let columns = COLUMNS + 14 * table.columns.len().saturating_sub(2);
    let draw = |names: usize| {
        let mut drawn = notes.clone();
        let text = grid(table, part, names, columns, &mut drawn).render(1);
        (text, drawn)
    };
    let fitting = NAME_WIDTHS.map(draw).into_iter();
    let (text, drawn) = fitting
        .clone()
        .find(|(text, _)| keeps_to(text, columns))
        .or(fitting.last())
        .unwrap_or_default();
    *notes = drawn;
    text
}

fn grid(table: &Table, part: &TablePart, names: usize, columns: usize, notes: &mut Notes) -> Grid {
    let mut grid = Grid::default();
    let mut heading = vec![
        left("name"),
        right("iterations"),
        right("total s"),
        right("ns each"),
        left("±"),
    ];
    let keys = table.columns.iter().map(|column| column_name(&column.key));
    heading.extend(keys.map(left));
    heading.push(left("verdict"));
    grid.entries(heading);
    for row in &part.rows {
        lines(&mut grid, row, names, columns, notes);
    }
    grid
}

fn lines(grid: &mut Grid, row: &TableRow, names: usize, columns: usize, notes: &mut Notes) {
    let name = wrap("", &row.name, names);
    let (first, more) = name.split_first().map_or(("", &[][..]), |(f, m)| (f, m));
    let mut line = vec![left(first)];
    line.extend(row.shown().map_or_else(nothing, figures));
    for published in &row.published {
        line.push(left(
            published.as_ref().map_or(String::new(), |published| {
                beside_text(published.row(), &ours::mark(row, published))
            }),
        ));
    }
    let verdict = left(ours::verdict(row, notes));
    line.push(match row.shown() {
        Some(measured) => verdict.in_style(Style::of(measured.verdict)),
        None => verdict,
    });
    grid.entries(line);
    for part in more {
        grid.free(format!("  {part}"));
    }
    for text in ours::below(row, notes) {
        grid.wrapped("      └ ", &text, columns);
    }
    if let Some(measured) = row.shown() {
        notes.figure(row, measured);
    }
}

fn nothing() -> [Entry; 4] {
    [right(""), right(""), right("-"), left("")]
}

/// Iterations, total s, ns each, and half of the interval in percent: three
/// digits, and no more than the interval supports.
fn figures(ours: &Measured) -> [Entry; 4] {
    let count = ours.iterations.map_or("-".into(), |n| n.to_string());
    let seconds = ours
        .total_s
        .map_or("-".into(), |s| format!("{s:.*}", decimals(s, 0.0)));
    let [each, half] = ours::plain(ours);
    [right(count), right(seconds), right(each), left(half)]
}
