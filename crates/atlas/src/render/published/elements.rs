//! Loops over arrays: the time of one repetition, and of one element.

use super::super::figures::time_with_half;
use super::super::layout::{Grid, left, right};
use super::notes::Notes;
use super::ours;
use crate::tables::{Table, TablePart, TableRow};
use model::figure::time;

/// The part: a line for each array, the columns that have figures, then ours.
pub(super) fn part(table: &Table, part: &TablePart, notes: &mut Notes) -> String {
    let columns = super::columns_with_figures(table, part);
    let mut grid = Grid::default();
    if !part.title.is_empty() {
        grid.free(part.title.as_str());
    }
    let mut heading = vec![left("")];
    for &at in &columns {
        let name = super::column_name(&table.columns[at].key);
        heading.extend([right(name), right("an element")]);
    }
    heading.extend(["here", "an element", ""].map(right));
    heading.push(left("verdict"));
    grid.entries(heading);
    for row in &part.rows {
        line(&mut grid, row, &columns, notes);
    }
    grid.render(2)
}

fn line(grid: &mut Grid, row: &TableRow, columns: &[usize], notes: &mut Notes) {
    let mut line = vec![left(format!(" {}", row.name))];
    for figure in columns.iter().map(|&at| row.published[at].as_ref()) {
        let text = |ns: Option<f64>| right(ns.map_or(String::new(), time));
        line.push(text(figure.and_then(|f| f.figure.ns)));
        line.push(text(figure.and_then(|f| f.figure.ns_per_element)));
    }
    let measured = row.shown();
    let element = measured.and_then(|m| Some(m.ns.scaled(1.0 / m.bytes? as f64)));
    let ratio = row
        .published
        .iter()
        .flatten()
        .find(|p| p.ratio.is_some() || p.doubtful.is_some());
    line.push(right(measured.map_or("-".into(), |m| time(m.ns.value))));
    line.push(right(
        element.map_or(String::new(), |ns| time_with_half(&ns)),
    ));
    line.push(right(ratio.map_or(String::new(), |p| ours::mark(row, p))));
    ours::finish(grid, line, row, notes);
}
