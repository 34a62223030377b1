//! The rows, each as a distribution over hosts.

use super::{change, places, range, value};
use crate::render::table::{group_of, in_group};
use model::fleet::{Fleet, FleetRow, Outlier};
use model::story::{Block, Cell, Link, Table, left, right};
use model::text::several;

/// With fewer hosts the whole range is shown: 5 % of them is no host.
const QUANTILES_FROM: usize = 20;
/// Characters of the distribution.
const STRIP: usize = 24;
/// Outliers that are named in a row.
const NAMED: usize = 4;

/// A table for each group of rows.
pub(crate) fn rows(fleet: &Fleet) -> Vec<Block> {
    let quantiles = fleet.hosts.len() >= QUANTILES_FROM;
    let tables = fleet.rows.chunk_by(|a, b| group_of(&a.id) == group_of(&b.id)).map(|rows| {
        let mut table = Table::new([
            left(group_of(&rows[0].id)),
            right("median"),
            right(if quantiles { "p5 .. p95" } else { "min .. max" }),
            right("hosts"),
            left("fast to slow"),
        ]);
        for row in rows {
            add(&mut table, fleet, row, quantiles);
        }
        table
    });
    vec![Block::Tables(tables.collect())]
}

fn add(table: &mut Table, fleet: &Fleet, row: &FleetRow, quantiles: bool) {
    let Some(q) = row.quantiles else { return };
    let name = match &row.mode {
        Some(mode) => format!("{} ({mode})", in_group(&row.id)),
        None => in_group(&row.id).to_owned(),
    };
    let ends = if quantiles { [q.p5_ns, q.p95_ns] } else { [q.min_ns, q.max_ns] };
    let figures = row.figures.iter().map(|figure| figure.value_ns);
    let apart = row.hosts_apart();
    let own = row.figures.iter().filter(|figure| apart.contains(&figure.host));
    let marked = own.map(|figure| figure.value_ns);
    let id = row.id.clone();
    table.row([
        Cell::from(name).to(Link::Row { id, at: Vec::new() }),
        value(&row.unit, q.median_ns).into(),
        range(&row.unit, ends).into(),
        row.figures.len().to_string().into(),
        Cell::strip(places(row, figures), places(row, marked), STRIP),
    ]);
    if let Some(note) = note(fleet, row) {
        table.note("  └ ", note);
    }
}

/// Who lies apart in a row, and what it differs by.
fn note(fleet: &Fleet, row: &FleetRow) -> Option<String> {
    let names = |outliers: &[Outlier]| {
        let named = outliers.iter().map(|outlier| named(fleet, outlier));
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
pub(super) fn named(fleet: &Fleet, outlier: &Outlier) -> String {
    format!("{} {}", fleet.hosts[outlier.host].name, change(outlier.ratio))
}
