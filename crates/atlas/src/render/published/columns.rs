//! A table as it was published, row by row, with this machine in the last
//! columns.

use super::super::COLUMNS;
use super::super::figures::{beside_text, typical};
use super::super::layout::{Grid, keeps_to, left, right};
use super::notes::Notes;
use super::{column_name, ours};
use crate::tables::{Table, TablePart, TableRow};

/// The part, with the median of everything that happened where there is room.
pub(super) fn part(table: &Table, part: &TablePart, notes: &mut Notes) -> String {
    let mut tried = notes.clone();
    let text = grid(table, part, true, &mut tried).render(1);
    if keeps_to(&text, COLUMNS) {
        *notes = tried;
        return text;
    }
    grid(table, part, false, notes).render(1)
}

fn grid(table: &Table, part: &TablePart, medians: bool, notes: &mut Notes) -> Grid {
    let mut grid = Grid::default();
    if !part.title.is_empty() {
        grid.free(part.title.as_str());
    }
    let mut heading = vec![left("")];
    let columns = super::columns_with_figures(table, part);
    let key = |&at: &usize| left(column_name(&table.columns[at].key));
    heading.extend(columns.iter().map(key));
    heading.extend([right("here"), left("±")]);
    if medians {
        heading.push(left("typical"));
    }
    heading.push(left("verdict"));
    grid.entries(heading);
    for row in &part.rows {
        line(&mut grid, row, &columns, medians, notes);
    }
    grid
}

fn line(grid: &mut Grid, row: &TableRow, columns: &[usize], medians: bool, notes: &mut Notes) {
    let mut line = vec![left(format!(" {}", row.name))];
    for published in columns.iter().map(|&at| &row.published[at]) {
        line.push(left(
            published.as_ref().map_or(String::new(), |published| {
                beside_text(published.row(), &ours::mark(row, published))
            }),
        ));
    }
    let measured = row.shown();
    let [value, half] = measured.map_or(["-".into(), String::new()], |m| ours::figure(row, m));
    line.extend([right(value), left(half)]);
    if medians {
        let text = measured.filter(|m| m.estimate.quiet.is_some());
        line.push(left(
            text.map_or(String::new(), |m| typical(&m.estimate, &m.unit)),
        ));
    }
    ours::finish(grid, line, row, notes);
}
