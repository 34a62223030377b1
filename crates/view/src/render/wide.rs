//! Everything: every column, every published table, every point of a curve
//! in a line of its own.

use super::Options;
use super::columns::{self, FigureLine, Said, said};
use super::cost;
use super::figures::typical_half;
use compare::references::{Reference, References};
use model::estimate::{Estimate, Quiet, Tail};
use model::figure::time;
use model::run::{Outcome, Run};
use model::share::percent;
use model::story::tail::{longest, modes_with_intervals, percentile};
use model::story::{Block, left, right};

pub(super) fn wide_rows(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    let tables = tables(run, references, options);
    let columns = columns(run, &tables, options);
    let mut wide = columns::columns_table(&columns).wide();
    for row in &run.rows {
        let mut add = |name: String, at: &[u64], estimate: &Estimate| {
            wide.row(columns::figure_cells(&columns, &FigureLine { name, row, at, estimate }));
        };
        match &row.outcome {
            Outcome::Figure(estimate) => add(row.id.clone(), &[], estimate),
            Outcome::Level { estimate, plateau } => {
                let range = [plateau.from_bytes, plateau.to_bytes].map(model::size::format_size);
                add(format!("{} ({} to {})", row.id, range[0], range[1]), &[], estimate);
            }
            Outcome::Curve { axis, points } => {
                for p in points {
                    add(format!("{} at {}", row.id, axis.value_text(p.x)), &[p.x], &p.estimate);
                }
            }
            Outcome::Map { y_axis, x_axis, points } => {
                for p in points {
                    let (y, x) = (y_axis.value_text(p.y), x_axis.value_text(p.x));
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
    options: &'a Options,
) -> Vec<&'a Reference> {
    if !options.versus.is_empty() {
        return options.versus.iter().collect();
    }
    let has_figure =
        |table: &&Reference| run.rows.iter().any(|row| table.counterpart(&row.id).is_some());
    references.tables.iter().filter(has_figure).collect()
}

fn columns<'t>(run: &'t Run, tables: &'t [&Reference], options: &Options) -> Vec<Said<'t>> {
    let quantile = |heading, of: fn(&Tail) -> Option<String>| {
        said(left(heading), move |entry| {
            entry.estimate.tail.as_ref().and_then(of).unwrap_or_default()
        })
    };
    let of_quiet = |heading, of: fn(&Quiet) -> String| {
        said(right(heading), move |entry| entry.estimate.quiet.as_ref().map_or(String::new(), of))
    };
    let mut columns = vec![
        columns::name_column("row"),
        columns::quiet(),
        said(right("minimum"), |entry| {
            let above = entry.estimate.quiet.filter(|_| entry.estimate.below_ns.is_none());
            above.map_or(String::new(), |quiet| time(quiet.minimum_ns))
        }),
        columns::cycle_count(),
        columns::of_all_samples(left("typical")),
        said(left("±"), |entry| typical_half(entry.estimate, &entry.row.unit)),
        quantile("p99", |tail| tail.p99_ns.as_ref().map(percentile)),
        quantile("p99.9", |tail| tail.p999_ns.as_ref().map(percentile)),
        quantile("max", |tail| Some(longest(tail))),
        said(right("quiet share"), |entry| {
            entry.estimate.quiet_share.map_or(String::new(), percent)
        }),
        said(right("samples"), |entry| {
            let quiet = entry.estimate.quiet.map(|quiet| quiet.samples);
            let samples = quiet.or(entry.estimate.typical.map(|typical| typical.samples));
            samples.map_or(String::new(), |count| count.to_string())
        }),
        of_quiet("workers", |quiet| quiet.workers.to_string()),
        said(right("batches took"), |entry| cost::of_cell(run, &entry.row.id, entry.at)),
    ];
    columns.extend(columns::asked(run, options, tables, |key| key));
    columns.push(columns::verdict());
    columns.push(said(left("reason"), |entry| entry.estimate.reason.clone()));
    columns
        .push(said(left("modes"), |entry| modes_with_intervals(entry.estimate, &entry.row.unit)));
    columns
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
        let text = plain(&wide_rows(&run, &references, &Options::default()));
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
