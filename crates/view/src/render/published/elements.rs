//! Loops over arrays: the time of one repetition, and of one element.

use super::notes::Notes;
use super::{ours, titled};
use compare::tables::{Table, TablePart, TableRow};
use model::figure::time;
use model::story::{self, Block, Cell, left, right};

/// The part: a line for each array, the columns that have figures, then ours.
pub(super) fn part(table: &Table, part: &TablePart, notes: &mut Notes) -> Vec<Block> {
    let columns = super::columns_with_figures(table, part);
    let mut page = story::Table::new([left("")]);
    for &at in &columns {
        let name = super::column_name(&table.columns[at].key);
        page.columns.extend([right(name), right("per element")]);
    }
    page.columns.extend(["here", "per element ±", ""].map(right));
    page.columns.push(left("verdict"));
    for row in &part.rows {
        ours::row(&mut page, cells(row, &columns), row, notes);
    }
    titled(part, page)
}

fn cells(row: &TableRow, columns: &[usize]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![format!(" {}", row.name).into()];
    let time_or_none = |ns: Option<f64>| Cell::from(ns.map_or(String::new(), time));
    for figure in columns.iter().map(|&at| row.published[at].as_ref()) {
        cells.push(time_or_none(figure.and_then(|f| f.figure.ns)));
        cells.push(time_or_none(figure.and_then(|f| f.figure.ns_per_element)));
    }
    let measured = row.shown();
    let element = measured.and_then(|m| Some(m.ns.scaled(1.0 / m.bytes? as f64)));
    let mut published = row.published.iter().flatten();
    let ratio = published.find(|p| p.ratio.is_some() || p.doubtful.is_some());
    cells.push(measured.map_or("-".into(), |m| time(m.ns.value)).into());
    cells.push(element.map_or("".into(), |ns| Cell::time(Some(ns))));
    cells.push(ratio.map_or(String::new(), |p| ours::mark(row, p)).into());
    cells
}
