//! Ash's columns: name, iterations, total time, ns each, in his order.

use super::notes::Notes;
use super::{column_name, ours};
use crate::terminal::fits;
use crate::terminal::layout::wrap;
use compare::tables::{Measured, Table, TablePart};
use model::figure::decimals;
use model::story::{self, Block, Cell, left, right};

/// Widths that names are broken at, the first that lets the table fit.
const NAME_WIDTHS: [usize; 4] = [29, 26, 22, 18];

/// The part, row by row as published.
pub(super) fn part(
    table: &Table,
    part: &TablePart,
    notes: &mut Notes,
    columns: usize,
) -> Vec<Block> {
    // Columns beside the usual ones are asked for, and come on top.
    let extra = 14 * table.columns.len().saturating_sub(2);
    let draw = |names: usize| {
        let mut drawn = notes.clone();
        let mut page = page(table, part, names, &mut drawn);
        page.extra = extra;
        (page, drawn)
    };
    let fitting = NAME_WIDTHS.map(draw).into_iter();
    let fitting = fitting.clone().find(|(page, _)| fits(page, columns + extra)).or(fitting.last());
    let Some((page, drawn)) = fitting else {
        return Vec::new();
    };
    *notes = drawn;
    vec![Block::Tables(vec![page])]
}

fn page(table: &Table, part: &TablePart, names: usize, notes: &mut Notes) -> story::Table {
    let mut page = story::Table::new([
        left("name"),
        right("iterations"),
        right("total s"),
        right("ns each ±"),
    ]);
    let keys = table.columns.iter().map(|column| column_name(&column.key));
    page.columns.extend(keys.map(left).chain([left("verdict")]));
    for row in &part.rows {
        let name = wrap("", &row.name, names);
        let (first, more) = name.split_first().map_or(("", &[][..]), |(f, m)| (f, m));
        let mut cells: Vec<Cell> = vec![first.into()];
        cells.extend(row.shown().map_or(["", "", "-"].map(Cell::from), figures));
        cells.extend((0..row.published.len()).map(|at| ours::published(row, at)));
        let at = page.rows.len() + 1;
        ours::row(&mut page, cells, row, notes);
        let rest = more.iter().map(|rest| story::Row::Note(story::Note::new("  ", rest)));
        page.rows.splice(at..at, rest);
    }
    page
}

/// Iterations, total s, ns each with half of its interval in percent: three
/// digits, and no more than the interval supports.
fn figures(ours: &Measured) -> [Cell; 3] {
    let count = ours.iterations.map_or("-".into(), |n| n.to_string());
    let seconds = ours.total_s.map_or("-".into(), |s| format!("{s:.*}", decimals(s, 0.0)));
    [count.into(), seconds.into(), Cell::digits(ours::plain(ours))]
}
