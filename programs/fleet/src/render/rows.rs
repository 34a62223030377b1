//! The rows, each as a distribution over hosts.

use super::axis::{StripAxis, median_of};
use super::{change, range, value_in_unit};
use crate::figures::{Fleet, FleetRow, Outlier, Quantiles};
use model::phrases::several;
use model::story::{Block, Cell, Link, Table, left, right};
use view::render::{group_of, in_group};

/// With fewer hosts the whole range is shown: 5 % of them is no host.
const QUANTILES_FROM: usize = 20;
/// Outliers that are named in a row.
const NAMED: usize = 4;

/// A table for each group of rows.
pub(crate) fn row_tables(fleet: &Fleet, axis: StripAxis) -> Vec<Block> {
    let quantiles = fleet.hosts.len() >= QUANTILES_FROM;
    let rows: Vec<FleetRowLine> =
        fleet.rows.iter().filter_map(|row| line(fleet, row, axis)).collect();
    let any_beyond = rows.iter().any(|line| line.beyond > 0);
    let tables = rows.chunk_by(|a, b| group_of(&a.row.id) == group_of(&b.row.id)).map(|lines| {
        let columns = [
            left(group_of(&lines[0].row.id)),
            right("median"),
            right(if quantiles { "p5 .. p95" } else { "min .. max" }),
            right("hosts"),
        ];
        let beyond = any_beyond.then(|| right("beyond"));
        let mut table = Table::new(columns.into_iter().chain(beyond).chain([axis.column()]));
        for line in lines {
            table.row(cells(line, quantiles, any_beyond));
            if let Some(note) = outlier_note(fleet, line.row) {
                table.note("  └ ", note);
            }
        }
        table
    });
    let mut blocks = vec![Block::Tables(tables.collect())];
    if any_beyond {
        blocks.push(Block::text(
            "beyond: hosts further from the median than the axis reaches, drawn at its end.",
        ));
    }
    blocks
}

/// A row with its strip.
struct FleetRowLine<'f> {
    row: &'f FleetRow,
    quantiles: Quantiles,
    strip: Cell,
    /// Hosts that do not lie on the axis.
    beyond: usize,
}

fn line<'f>(fleet: &'f Fleet, row: &'f FleetRow, axis: StripAxis) -> Option<FleetRowLine<'f>> {
    let strip = median_of(row).and_then(|median| axis.strip(fleet, row, median, None));
    let (strip, beyond) = match strip {
        Some(strip) => (strip.cell, strip.beyond),
        None => ("no ratio to this median".into(), 0),
    };
    Some(FleetRowLine { row, quantiles: row.quantiles?, strip, beyond })
}

fn cells(line: &FleetRowLine, quantiles: bool, any_beyond: bool) -> Vec<Cell> {
    let FleetRowLine { row, quantiles: q, strip, beyond } = line;
    let name = match &row.mode {
        Some(mode) => format!("{} ({mode})", in_group(&row.id)),
        None => in_group(&row.id).to_owned(),
    };
    let ends = if quantiles { [q.p5_ns, q.p95_ns] } else { [q.min_ns, q.max_ns] };
    let id = row.id.clone();
    let cells = [
        Cell::from(name).to(Link::Row { id, at: Vec::new() }),
        value_in_unit(&row.unit, q.median_ns).into(),
        range(&row.unit, ends).into(),
        row.figures.len().to_string().into(),
    ];
    let count = if *beyond > 0 { beyond.to_string() } else { String::new() };
    let beyond = any_beyond.then(|| Cell::from(count));
    cells.into_iter().chain(beyond).chain([strip.clone()]).collect()
}

/// Who lies apart in a row, and what it differs by.
fn outlier_note(fleet: &Fleet, row: &FleetRow) -> Option<String> {
    let names = |outliers: &[Outlier]| {
        let named = outliers.iter().map(|outlier| outlier_name(fleet, outlier));
        several(&named.collect::<Vec<String>>(), NAMED)
    };
    let mut parts = Vec::new();
    if let Some(facts) = &row.judged_within {
        let names: Vec<&str> = facts.iter().map(|fact| fact.text()).collect();
        parts.push(format!("differs by {}", names.join(" and ")));
    }
    if !row.apart.is_empty() {
        let count = row.apart.len();
        parts.push(format!("second group, {count} hosts: {}", names(&row.apart)));
    }
    if !row.outliers.is_empty() {
        parts.push(names(&row.outliers));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// A host and how far it is from the others: `n017 +32 %`.
pub(super) fn outlier_name(fleet: &Fleet, outlier: &Outlier) -> String {
    format!("{} {}", fleet.hosts[outlier.host].name, change(outlier.ratio))
}
