//! The default table: single figures, one line each, by group.

use super::figures::{Shown, cycles, frames, human, shown, typical, versus};
use super::layout::{Entry, Grid, Style, left, right, stacked};
use super::tails::below_row;
use super::{COLUMNS, Options};
use crate::references::{DEFAULT_KEY, Reference, References};
use model::estimate::Estimate;
use model::run::{Outcome, Row, Run};
use model::unit::Unit;

/// The table; empty where the run holds only curves.
pub(super) fn table(run: &Run, references: &References, options: &Options) -> String {
    let tables = tables(references, options);
    let mut grids: Vec<Grid> = Vec::new();
    let mut group = "";
    for row in &run.rows {
        if matches!(row.outcome, Outcome::Curve { .. } | Outcome::Map { .. }) {
            continue;
        }
        if group_of(&row.id) != group || grids.is_empty() {
            group = group_of(&row.id);
            let mut grid = Grid::default();
            grid.entries(heading(group, &tables, options));
            grids.push(grid);
        }
        let Some(grid) = grids.last_mut() else {
            continue;
        };
        match &row.outcome {
            Outcome::Unavailable { reason } => {
                let lead = format!(" {}  ", in_group(&row.id));
                grid.wrapped(&lead, &format!("not available here: {reason}"), COLUMNS);
            }
            _ => figure(grid, row, &tables, options),
        }
    }
    // What was asked for beside the usual columns comes on top.
    let extra = 8 * usize::from(options.human) + 6 * usize::from(options.frames);
    stacked(&grids, 1, COLUMNS + extra)
}

/// What stands before the first dot.
pub(super) fn group_of(id: &str) -> &str {
    id.split_once('.').map_or(id, |(group, _)| group)
}

/// The id below its group's heading.
pub(super) fn in_group(id: &str) -> &str {
    id.split_once('.').map_or(id, |(_, name)| name)
}

/// The published tables to set beside: those asked for, else the 2012 list.
pub(super) fn tables<'a>(references: &'a References, options: &Options<'a>) -> Vec<&'a Reference> {
    if options.versus.is_empty() {
        references.find(DEFAULT_KEY).into_iter().collect()
    } else {
        options.versus.clone()
    }
}

fn heading(group: &str, tables: &[&Reference], options: &Options) -> Vec<Entry> {
    let mut line = vec![
        left(group),
        right("quiet"),
        left("±"),
        right("cycles"),
        left("typical"),
    ];
    if options.human {
        line.push(right("1ns=1s"));
    }
    if options.frames {
        line.push(right("frame"));
    }
    for table in tables {
        line.push(left(short_title(&table.key)));
    }
    line.push(left("verdict"));
    line
}

/// What a column is headed by.
pub(super) fn short_title(key: &str) -> &str {
    match key {
        DEFAULT_KEY => "2012 list",
        key => key,
    }
}

fn figure(grid: &mut Grid, row: &Row, tables: &[&Reference], options: &Options) {
    let Some(estimate) = row.estimate() else {
        return;
    };
    let mut line = vec![left(format!(" {}", in_group(&row.id)))];
    let [value, half] = quiet(estimate, &row.unit);
    line.push(right(value));
    line.push(left(half));
    line.push(right(cycles(estimate)));
    line.push(left(typical(estimate, &row.unit)));
    let time = estimate
        .ns()
        .filter(|_| row.unit == Unit::Time && estimate.below_ns.is_none());
    if options.human {
        line.push(right(time.map_or(String::new(), |ns| human(ns.value))));
    }
    if options.frames {
        line.push(right(time.map_or(String::new(), |ns| frames(ns.value))));
    }
    for table in tables {
        line.push(left(versus(&row.id, estimate, &row.unit, table)));
    }
    line.push(left(estimate.verdict.text()).in_style(Style::of(estimate.verdict)));
    grid.entries(line);
    for text in below_row(&row.id, estimate) {
        grid.wrapped("      └ ", &text, COLUMNS);
    }
}

/// The quiet figure with its unit, and half of its interval.
fn quiet(estimate: &Estimate, unit: &Unit) -> [String; 2] {
    let empty = || ["-".to_owned(), String::new()];
    match shown(estimate, unit) {
        Shown::Below(text) => [text, String::new()],
        // The typical figure alone belongs into its own column.
        Shown::Figure(_) if estimate.quiet.is_none() => empty(),
        Shown::Figure(f) => [
            format!("{} {}", f.value, f.unit),
            format!("±{}", f.half_width),
        ],
        Shown::Nothing => empty(),
    }
}
