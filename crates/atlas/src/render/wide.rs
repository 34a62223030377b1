//! Everything: every column, every published table, every point of a curve
//! in a line of its own.

use super::Options;
use super::curves::axis_value;
use super::figures::{Shown, cycles, frames, human, shown, typical, versus};
use super::layout::{Entry, Grid, Style, left, right};
use crate::references::{Reference, References};
use model::estimate::Estimate;
use model::figure::time;
use model::run::{Outcome, Run};
use model::unit::Unit;

/// The wide table.
pub(super) fn table(run: &Run, references: &References, options: &Options) -> String {
    let tables = tables(run, references, options);
    let mut grid = Grid::default();
    grid.entries(heading(&tables, options));
    for row in &run.rows {
        let mut add = |name: String, estimate: &Estimate| {
            grid.entries(line(name, estimate, &row.unit, &row.id, &tables, options));
        };
        match &row.outcome {
            Outcome::Figure(estimate) => add(row.id.clone(), estimate),
            Outcome::Level { estimate, plateau } => {
                let range = [plateau.from_bytes, plateau.to_bytes].map(model::size::text);
                add(
                    format!("{} ({} to {})", row.id, range[0], range[1]),
                    estimate,
                );
            }
            Outcome::Curve { axis, points } => {
                for p in points {
                    add(
                        format!("{} at {}", row.id, axis_value(*axis, p.x)),
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
                    add(format!("{} at {y} x {x}", row.id), &p.estimate);
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
fn tables<'a>(run: &Run, references: &'a References, options: &Options<'a>) -> Vec<&'a Reference> {
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
        right("quiet share"),
        right("samples"),
        right("workers"),
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
    line
}

fn line(
    name: String,
    estimate: &Estimate,
    unit: &Unit,
    id: &str,
    tables: &[&Reference],
    options: &Options,
) -> Vec<Entry> {
    let quiet = estimate.quiet;
    let [figure, half] = match shown(estimate, unit) {
        Shown::Below(text) => [text, String::new()],
        Shown::Figure(f) if quiet.is_some() => [
            format!("{} {}", f.value, f.unit),
            format!("±{}", f.half_width),
        ],
        _ => ["-".into(), String::new()],
    };
    let samples = quiet
        .map(|q| q.samples)
        .or(estimate.typical.map(|t| t.samples));
    let mut line = vec![
        left(name),
        right(figure),
        left(half),
        right(quiet.map_or(String::new(), |q| time(q.minimum_ns))),
        right(cycles(estimate)),
        left(typical(estimate, unit)),
        right(
            estimate
                .quiet_share
                .map_or(String::new(), |share| format!("{:.0} %", share * 100.0)),
        ),
        right(samples.map_or(String::new(), |n| n.to_string())),
        right(quiet.map_or(String::new(), |q| q.workers.to_string())),
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
        line.push(left(versus(id, estimate, unit, table)));
    }
    line.push(left(estimate.verdict.text()).in_style(Style::of(estimate.verdict)));
    line.push(left(estimate.reason.as_str()));
    line
}
