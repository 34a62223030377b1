//! Ash's columns: name, iterations, total time, ns each, in his order.

use super::notes::Notes;
use super::{column_name, ours, titled};
use crate::terminal::fits;
use crate::terminal::layout::wrap;
use compare::tables::{Measured, PublishedTable, TablePart, TableRow};
use model::figure::decimals;
use model::story::{self, Block, Cell, left, right};

/// Widths that names are broken at, the first that lets the table fit.
const NAME_WIDTHS: [usize; 4] = [29, 26, 22, 18];

/// The part, row by row as published.
pub(super) fn part(
    table: &PublishedTable,
    part: &TablePart,
    notes: &mut Notes,
    columns: usize,
) -> Vec<Block> {
    // Columns beside the part's own one are asked for, and come on top.
    let extra = 14 * part.columns.len().saturating_sub(1);
    let draw = |names: usize| {
        let mut drawn = notes.clone();
        let mut page = costs_table(table, part, names, &mut drawn);
        page.extra = extra;
        (page, drawn)
    };
    let fitting = NAME_WIDTHS.map(draw).into_iter();
    let fitting = fitting.clone().find(|(page, _)| fits(page, columns + extra)).or(fitting.last());
    let Some((page, drawn)) = fitting else {
        return Vec::new();
    };
    *notes = drawn;
    titled(part, page)
}

fn costs_table(
    table: &PublishedTable,
    part: &TablePart,
    names: usize,
    notes: &mut Notes,
) -> story::Table {
    let mut page =
        story::Table::new([left("name"), right("iterations"), right("total s"), right("each ±")]);
    let keys = part.columns.iter().map(|&at| column_name(&table.columns[at].key));
    page.columns.extend(keys.map(left).chain([left("verdict")]));
    for row in &part.rows {
        let name = wrap("", &ours::row_name(row), names);
        let (first, more) = name.split_first().map_or(("", &[][..]), |(f, m)| (f, m));
        let mut cells: Vec<Cell> = vec![first.into()];
        cells.extend(match row.shown() {
            Some(measured) => cost_cells(row, measured),
            None => ["", "", "-"].map(Cell::from),
        });
        cells.extend(part.columns.iter().map(|&at| ours::published(row, at)));
        let at = page.rows.len() + 1;
        ours::add_our_row(&mut page, cells, row, notes);
        let rest = more.iter().map(|rest| story::Row::Note(story::Note::new("  ", rest)));
        page.rows.splice(at..at, rest);
    }
    page
}

/// Iterations, total s, what each takes with half of its interval.
fn cost_cells(row: &TableRow, ours: &Measured) -> [Cell; 3] {
    let count = ours.iterations.map_or("-".into(), |n| n.to_string());
    let seconds = ours.total_s.map_or("-".into(), |s| format!("{s:.*}", decimals(s, 0.0)));
    [count.into(), seconds.into(), ours::our_figure(row, ours)]
}
