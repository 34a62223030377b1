//! Everything: every column, every published table, every point of a curve
//! in a line of its own.

use super::Options;
use super::cost;
use super::curves::axis_value;
use super::figures::{
    Shown, cycles, frames, human, quiet_half, shown, typical, typical_half, versus,
};
use super::layout::{Entry, Grid, Style, left, right};
use super::tails::{longest, modes_with_intervals, percentile};
use crate::references::{Reference, References};
use model::estimate::Estimate;
use model::figure::time;
use model::run::{Outcome, Row, Run};
use model::unit::Unit;

/// The wide table.
pub(super) fn table(run: &Run, references: &References, options: &Options) -> String {
    let tables = tables(run, references, options);
    let mut grid = Grid::default();
    grid.entries(heading(&tables, options));
    for row in &run.rows {
        let mut add = |name: String, at: &[u64], estimate: &Estimate| {
            let took = cost::of_cell(run, &row.id, at);
            grid.entries(line(name, row, estimate, took, &tables, options));
        };
        match &row.outcome {
            Outcome::Figure(estimate) => add(row.id.clone(), &[], estimate),
            Outcome::Level { estimate, plateau } => {
                let range = [plateau.from_bytes, plateau.to_bytes].map(model::size::text);
                add(
                    format!("{} ({} to {})", row.id, range[0], range[1]),
                    &[],
                    estimate,
                );
            }
            Outcome::Curve { axis, points } => {
                for p in points {
                    add(
                        format!("{} at {}", row.id, axis_value(*axis, p.x)),
                        &[p.x],
                        &p.estimate,
                    );
                }
            }
            Outcome::Map {
                y_axis,
                x_axis,
                points,
            } => {
                for p in points {
                    let (y, x) = (axis_value(*y_axis, p.y), axis_value(*x_axis, p.x));
                    let name = format!("{} at {y} x {x}", row.id);
                    add(name, &[p.y, p.x], &p.estimate);
                }
            }
            Outcome::Unavailable { reason } => {
                grid.free(format!("{}  not available here: {reason}", row.id));
            }
        }
    }
    grid.render(2)
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
        |table: &&Reference| run.rows.iter().any(|row| table.beside(&row.id).is_some());
    references.tables.iter().filter(has_figure).collect()
}

fn heading(tables: &[&Reference], options: &Options) -> Vec<Entry> {
    let mut line = vec![
        left("row"),
        right("quiet"),
        left("±"),
        right("minimum"),
        right("cycles"),
        left("typical"),
        left("±"),
        left("p99"),
        left("p99.9"),
        left("longest"),
        right("quiet share"),
        right("samples"),
        right("workers"),
        right("visits took"),
    ];
    if options.human {
        line.push(right("1ns=1s"));
    }
    if options.frames {
        line.push(right("frame"));
    }
    for table in tables {
        line.push(left(table.key.as_str()));
    }
    line.push(left("verdict"));
    line.push(left("reason"));
    line.push(left("modes"));
    line
}

fn line(
    name: String,
    row: &Row,
    estimate: &Estimate,
    took: String,
    tables: &[&Reference],
    options: &Options,
) -> Vec<Entry> {
    let unit = &row.unit;
    let quiet = estimate.quiet;
    let [figure, half] = match shown(estimate, unit) {
        Shown::Below(text) => [text, String::new()],
        Shown::Figure(f) if quiet.is_some() => [
            format!("{} {}", f.value, f.unit),
            quiet_half(estimate, &f.half_width),
        ],
        _ => ["-".into(), String::new()],
    };
    let samples = quiet
        .map(|q| q.samples)
        .or(estimate.typical.map(|t| t.samples));
    let [p99, p999] = [
        estimate.tail.and_then(|tail| tail.p99_ns),
        estimate.tail.and_then(|tail| tail.p999_ns),
    ]
    .map(|ns| ns.map_or(String::new(), |ns| percentile(&ns)));
    let longest = estimate.tail.map_or(String::new(), |tail| longest(&tail));
    let mut line = vec![
        left(name),
        right(figure),
        left(half),
        right(match quiet.filter(|_| estimate.below_ns.is_none()) {
            Some(quiet) => time(quiet.minimum_ns),
            None => String::new(),
        }),
        right(cycles(estimate)),
        left(typical(estimate, unit)),
        left(typical_half(estimate, unit)),
        left(p99),
        left(p999),
        left(longest),
        right(
            estimate
                .quiet_share
                .map_or(String::new(), |share| format!("{:.0} %", share * 100.0)),
        ),
        right(samples.map_or(String::new(), |n| n.to_string())),
        right(quiet.map_or(String::new(), |q| q.workers.to_string())),
        right(took),
    ];
    let ns = estimate
        .ns()
        .filter(|_| *unit == Unit::Time && estimate.below_ns.is_none());
    if options.human {
        line.push(right(ns.map_or(String::new(), |ns| human(ns.value))));
    }
    if options.frames {
        line.push(right(ns.map_or(String::new(), |ns| frames(ns.value))));
    }
    for table in tables {
        line.push(left(versus(&row.id, estimate, unit, table)));
    }
    line.push(left(estimate.verdict.text()).in_style(Style::of(estimate.verdict)));
    line.push(left(estimate.reason.as_str()));
    line.push(left(modes_with_intervals(estimate, unit)));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;

    #[test]
    fn each_line_says_what_its_own_cell_cost() {
        let mut run = synthetic::run();
        for (row, at, wall_ms) in [
            ("sched.pool", vec![8], 808.0),
            ("sched.ring", vec![8, 16 << 10], 816.0),
        ] {
            let mut cell = run.cells[0].clone();
            (cell.row, cell.at, cell.wall_ms) = (row.into(), at, wall_ms);
            run.cells.push(cell);
        }
        let references = References::embedded().expect("references");
        let text = table(&run, &references, &Options::default());
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

    #[test]
    fn modes_and_tails_have_columns() {
        let references = References::embedded().expect("references");
        let text = table(&synthetic::run(), &references, &Options::default());
        for (row, part) in [
            ("collections.push/worst ", "189 ns ±13"),
            ("collections.push/worst ", "2501 ns of 40000 in 30 s"),
            ("sync.handoff/pipe ", "other CPU 39.4 µs ±0.8 in 0.4 %"),
        ] {
            let line = text.lines().find(|line| line.starts_with(row));
            let line = line.expect("the row");
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}
