//! Every column, each figure in ns as it is.

use super::super::figures::typical;
use super::ours;
use compare::tables::{Here, Measured, PublishedFigure, PublishedTable, TableRow};
use model::figure::scale_of;
use model::story::{self, Block, Cell, left, right};

/// The table: a line for each row, and one for each row that does the same job.
pub(super) fn wide_table(table: &PublishedTable) -> Vec<Block> {
    let mut page = story::Table::new(["name", "row"].map(left));
    let columns = ["iterations", "total s", "ns each ±", "figure"].map(right);
    page.columns.extend(columns);
    page.columns.extend(["typical", "verdict"].map(left));
    for column in &table.columns {
        let columns = [column.key.as_str(), "iterations", "total s", "ratio"];
        page.columns.extend(columns.map(right));
    }
    page.columns.push(left("remarks"));
    for part in &table.parts {
        if !part.title.is_empty() {
            page.note("", format!("{}:", part.title));
        }
        for row in &part.rows {
            page.row(wide_cells(&ours::row_name(row), &row.id, &row.here, row, true));
            for like in &row.likes {
                page.row(wide_cells("  ~", &like.id, &like.here, row, false));
            }
        }
    }
    vec![Block::Table(page.wide())]
}

fn wide_cells(name: &str, id: &str, here: &Here, row: &TableRow, own: bool) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![name.into(), id.into()];
    let none = || ["", "", "-", "", "", ""].map(Cell::from);
    cells.extend(here.measured().map_or_else(none, wide_figures));
    for published in &row.published {
        cells.extend(match published.as_ref().filter(|_| own) {
            Some(published) => as_published(row, published).map(Cell::from),
            None => ["", "", "", ""].map(Cell::from),
        });
    }
    let reference_only = Some(row).filter(|_| own);
    let reference_only = reference_only.and_then(|row| row.reference_only.as_deref());
    cells.push(remarks(here, reference_only).into());
    cells
}

fn wide_figures(ours: &Measured) -> [Cell; 6] {
    [
        ours.iterations.map_or("-".into(), |n| n.to_string()).into(),
        ours.total_s.map_or("-".into(), |s| format!("{s:.6}")).into(),
        Cell::digits(ours::plain(ours)),
        ours.figure.into(),
        typical_with_unit(ours).into(),
        Cell::from(ours.verdict.text()).toned(ours.verdict),
    ]
}

/// The median of all operations with its unit, which the figure next to it, in ns, may not have.
fn typical_with_unit(ours: &Measured) -> String {
    let text = typical(&ours.estimate, &ours.unit);
    match ours.estimate.quiet {
        Some(quiet) if !text.is_empty() => {
            let (_, name) = scale_of(&ours.unit, ours.unit.of_ns(quiet.ns.value));
            format!("{text} {name}")
        }
        _ => text,
    }
}

fn as_published(row: &TableRow, published: &PublishedFigure) -> [String; 4] {
    let figure = &published.figure;
    let speed = || figure.mb_per_s.map(|speed| format!("{speed} MB/s"));
    let cycles = || figure.cycles.map(|cycles| format!("{cycles} cycles"));
    let ns = figure.ns.map(|ns| ns.to_string()).or_else(speed).or_else(cycles);
    [
        ns.unwrap_or_default(),
        figure.iterations.map_or(String::new(), |n| n.to_string()),
        figure.total_s.map_or(String::new(), |s| s.to_string()),
        ours::mark(row, published),
    ]
}

fn remarks(here: &Here, reference_only: Option<&str>) -> String {
    match (here, reference_only) {
        (Here::Measured(measured), _) => measured.reason.clone(),
        (_, Some(why)) => format!("one machine alone can't measure it: {why}"),
        (Here::Unavailable { reason }, _) => format!("not available here: {reason}"),
        (Here::Invalid { reason }, _) => super::notes::invalid(reason),
        (Here::NotMeasured { reason, .. }, _) => reason.clone(),
    }
}
