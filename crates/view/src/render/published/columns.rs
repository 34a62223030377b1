//! A table as it was published, row by row, with this machine in the last
//! columns.

use super::super::figures::typical;
use super::notes::Notes;
use super::{column_name, ours, titled};
use compare::tables::{PublishedTable, TablePart, TableRow};
use model::story::{self, Block, Cell, left, right};

/// The part, with the median of all operations where there is room.
pub(super) fn part(table: &PublishedTable, part: &TablePart, notes: &mut Notes) -> Vec<Block> {
    let columns = super::columns_with_figures(table, part);
    let mut page = story::Table::new([left("")]);
    let names = columns.iter().map(|&at| left(column_name(&table.columns[at].key)));
    page.columns.extend(names);
    page.columns.extend([right("here ±"), left("typical").optional(), left("verdict")]);
    for row in &part.rows {
        ours::add_our_row(&mut page, published_cells(row, &columns), row, notes);
    }
    titled(part, page)
}

fn published_cells(row: &TableRow, columns: &[usize]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![format!(" {}", ours::row_name(row)).into()];
    let published = columns.iter().map(|&at| ours::published(row, at));
    cells.extend(published);
    let measured = row.shown();
    cells.push(measured.map_or("-".into(), |m| ours::our_figure(row, m)));
    let median = measured.filter(|m| m.estimate.quiet.is_some());
    let median = median.map(|m| typical(&m.estimate, &m.unit));
    cells.push(median.unwrap_or_default().into());
    cells
}
