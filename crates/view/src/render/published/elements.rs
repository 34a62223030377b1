//! Loops over arrays: the time of one repetition, and of one element.

use super::super::figures::interval_figure;
use super::notes::Notes;
use super::{ours, titled};
use compare::tables::{PublishedTable, TablePart, TableRow};
use model::figure::time;
use model::story::{self, Block, Cell, left, right};
use model::unit::Unit;

/// The part: a line for each array, the columns that have figures, then ours.
pub(super) fn part(table: &PublishedTable, part: &TablePart, notes: &mut Notes) -> Vec<Block> {
    let columns = super::columns_with_figures(table, part);
    let mut page = story::Table::new([left("")]);
    for &at in &columns {
        let name = super::column_name(&table.columns[at].key);
        page.columns.extend([right(name), right("per element")]);
    }
    page.columns.extend(["here", "per element ±", ""].map(right));
    page.columns.push(left("verdict"));
    for row in &part.rows {
        ours::add_our_row(&mut page, element_cells(row, &columns), row, notes);
    }
    titled(part, page)
}

fn element_cells(row: &TableRow, columns: &[usize]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![format!(" {}", row.name).into()];
    let time_or_none = |ns: Option<f64>| Cell::from(ns.map_or(String::new(), time));
    for figure in columns.iter().map(|&at| row.published[at].as_ref()) {
        cells.push(time_or_none(figure.and_then(|f| f.figure.ns)));
        cells.push(time_or_none(figure.and_then(|f| f.figure.ns_per_element)));
    }
    let measured = row.shown();
    let element = measured.and_then(|m| Some(m.ns.scaled(1.0 / m.bytes? as f64)));
    let is_uncertain = measured.is_some_and(ours::is_uncertain);
    let mut published = row.published.iter().flatten();
    let ratio = published.find(|p| p.ratio.is_some() || p.doubtful.is_some());
    let digits = |ns| interval_figure(&ns, &Unit::Time).text();
    cells.push(match measured {
        Some(_) if is_uncertain => ours::UNCERTAIN.into(),
        measured => measured.map_or("-".into(), |m| digits(m.ns)).into(),
    });
    let element = element.filter(|_| !is_uncertain);
    cells.push(element.map_or("".into(), |ns| Cell::time(Some(ns))));
    cells.push(ratio.map_or(String::new(), |p| ours::mark(row, p)).into());
    cells
}
