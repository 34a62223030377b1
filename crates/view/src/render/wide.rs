//! Everything: every column, every published table, every point of a curve
//! in a line of its own.

use super::Options;
use super::cost;
use super::figures::{cycles, typical, typical_half, versus};
use super::table::{quiet, scaled};
use compare::references::{Reference, References};
use model::estimate::Estimate;
use model::figure::time;
use model::run::{Outcome, Row, Run};
use model::story::tail::{longest, modes_with_intervals, percentile};
use model::story::{Block, Cell, Column, Table, left, right};

/// The wide table.
pub(super) fn table(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    let tables = tables(run, references, options);
    let mut wide = Table::new(columns(&tables, options)).wide();
    for row in &run.rows {
        let mut add = |name: String, at: &[u64], estimate: &Estimate| {
            let took = cost::of_cell(run, &row.id, at);
            wide.row(cells(name, row, estimate, took, &tables, options));
        };
        match &row.outcome {
            Outcome::Figure(estimate) => add(row.id.clone(), &[], estimate),
            Outcome::Level { estimate, plateau } => {
                let range = [plateau.from_bytes, plateau.to_bytes].map(model::size::text);
                add(format!("{} ({} to {})", row.id, range[0], range[1]), &[], estimate);
            }
            Outcome::Curve { axis, points } => {
                for p in points {
                    add(format!("{} at {}", row.id, axis.text(p.x)), &[p.x], &p.estimate);
                }
            }
            Outcome::Map { y_axis, x_axis, points } => {
                for p in points {
                    let (y, x) = (y_axis.text(p.y), x_axis.text(p.x));
                    let name = format!("{} at {y} x {x}", row.id);
                    add(name, &[p.y, p.x], &p.estimate);
                }
            }
            Outcome::Unavailable { reason } => {
                wide.note("", format!("{}  not available here: {reason}", row.id));
            }
        }
    }
    vec![Block::Table(wide)]
}

/// The tables asked for, else all that have a figure for one of the rows.
pub(super) fn tables<'a>(
    run: &Run,
    references: &'a References,
    options: &Options<'a>,
) -> Vec<&'a Reference> {
    if !options.versus.is_empty() {
        return options.versus.clone();
    }
    let has_figure =
        |table: &&Reference| run.rows.iter().any(|row| table.counterpart(&row.id).is_some());
    references.tables.iter().filter(has_figure).collect()
}

fn columns(tables: &[&Reference], options: &Options) -> Vec<Column> {
    let mut columns = vec![
        left("row"),
        right("quiet ±"),
        right("minimum"),
        right("cycles"),
        left("typical"),
        left("±"),
        left("p99"),
        left("p99.9"),
        left("max"),
        right("quiet share"),
        right("samples"),
        right("workers"),
        right("visits took"),
    ];
    columns.extend(options.human.then(|| right("1ns=1s")));
    columns.extend(options.frames.then(|| right("frame")));
    columns.extend(tables.iter().map(|table| left(table.key.as_str())));
    columns.extend(["verdict", "reason", "modes"].map(left));
    columns
}

fn cells(
    name: String,
    row: &Row,
    estimate: &Estimate,
    took: String,
    tables: &[&Reference],
    options: &Options,
) -> Vec<Cell> {
    let unit = &row.unit;
    let at_least = estimate.quiet;
    let minimum = at_least.filter(|_| estimate.below_ns.is_none());
    let samples = at_least.map(|q| q.samples).or(estimate.typical.map(|t| t.samples));
    let tail = estimate.tail;
    let [p99, p999] = [tail.and_then(|t| t.p99_ns), tail.and_then(|t| t.p999_ns)];
    let share = estimate.quiet_share;
    let texts = [
        minimum.map(|quiet| time(quiet.minimum_ns)),
        Some(cycles(estimate)),
        Some(typical(estimate, unit)),
        Some(typical_half(estimate, unit)),
        p99.as_ref().map(percentile),
        p999.as_ref().map(percentile),
        tail.as_ref().map(longest),
        share.map(|share| format!("{:.0} %", share * 100.0)),
        samples.map(|n| n.to_string()),
        at_least.map(|quiet| quiet.workers.to_string()),
        Some(took),
    ];
    let mut cells: Vec<Cell> = vec![name.into(), quiet(estimate, unit)];
    cells.extend(texts.map(|text| Cell::from(text.unwrap_or_default())));
    cells.extend(scaled(estimate, unit, options));
    let counterpart = tables.iter();
    cells.extend(counterpart.map(|table| versus(&row.id, estimate, unit, table).into()));
    cells.extend([
        Cell::from(estimate.verdict.text()).toned(estimate.verdict),
        estimate.reason.as_str().into(),
        modes_with_intervals(estimate, unit).into(),
    ]);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::plain;
    use model::synthetic;

    #[test]
    fn each_line_says_what_its_own_cell_cost() {
        let mut run = synthetic::run();
        for (row, at, wall_ms) in
            [("sched.pool", vec![8], 808.0), ("sched.ring", vec![8, 16 << 10], 816.0)]
        {
            let mut cell = run.cells[0].clone();
            (cell.row, cell.at, cell.wall_ms) = (row.into(), at, wall_ms);
            run.cells.push(cell);
        }
        let references = References::embedded().expect("references");
        let text = plain(&table(&run, &references, &Options::default()));
        for (name, took) in [
            ("sched.pool at 8 ", "808 ms"),
            ("sched.ring at 8 x 16KiB ", "816 ms"),
            ("cpu.add_i32 ", "12.5 ms"),
        ] {
            let line = text.lines().find(|line| line.starts_with(name));
            assert!(line.is_some_and(|line| line.contains(took)), "{line:?}");
            assert_eq!(
                text.matches(&format!(" {took} ")).count(),
                match name {
                    "cpu.add_i32 " => 2,
                    _ => 1,
                }
            );
        }
    }
}
