//! The default table: single figures, one line each, by group.

use super::figures::{Shown, cycles, frames, human, quiet_half, shown, typical, versus};
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
    let mut rest = &run.rows[..];
    while let Some(row) = rest.first() {
        let these = alike(rest);
        rest = &rest[these..];
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
                let lead = match these {
                    1 => format!(" {}  ", in_group(&row.id)),
                    several => format!(" {several} rows  "),
                };
                grid.wrapped(&lead, &format!("not available here: {reason}"), COLUMNS);
            }
            _ => figure(grid, row, &tables, options),
        }
    }
    // What was asked for beside the usual columns comes on top.
    let extra = 8 * usize::from(options.human) + 6 * usize::from(options.frames);
    stacked(&grids, 1, COLUMNS + extra)
}

/// How many rows, from the first one on, are of one line: rows of a group that
/// are missing for the same reason would fill a page with it. `--wide` names
/// each.
fn alike(rows: &[Row]) -> usize {
    let Outcome::Unavailable { reason } = &rows[0].outcome else {
        return 1;
    };
    let same = |row: &&Row| {
        group_of(&row.id) == group_of(&rows[0].id)
            && matches!(&row.outcome, Outcome::Unavailable { reason: other } if other == reason)
    };
    match rows.iter().take_while(same).count() {
        // Two names are shorter than the question which they are.
        2 => 1,
        several => several,
    }
}

/// What stands before the first dot.
pub(crate) fn group_of(id: &str) -> &str {
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
pub(crate) fn short_title(key: &str) -> &str {
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
    for text in below_row(&row.id, estimate, &row.unit) {
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
            quiet_half(estimate, &f.half_width),
        ],
        Shown::Nothing => empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;

    /// A run of rows that are missing for these reasons.
    fn missing(rows: &[(&str, &str)]) -> Run {
        let run = synthetic::run();
        let rows = rows.iter().map(|(id, reason)| Row {
            id: (*id).into(),
            outcome: Outcome::Unavailable {
                reason: (*reason).into(),
            },
            ..run.rows[0].clone()
        });
        Run {
            rows: rows.collect(),
            ..run.clone()
        }
    }

    fn lines(run: &Run) -> Vec<String> {
        let references = References::embedded().expect("references");
        let text = table(run, &references, &Options::default());
        let lines = text.lines().filter(|line| line.starts_with(' '));
        lines.map(str::to_string).collect()
    }

    #[test]
    fn many_rows_that_are_missing_for_one_reason_are_one_line() {
        let run = missing(&[
            ("objc.send", "no runtime"),
            ("objc.release", "no runtime"),
            ("objc.encode", "no runtime"),
            ("objc.spawn", "no programs"),
            ("ui.view", "no programs"),
            ("ui.window", "no programs"),
        ]);
        assert_eq!(
            lines(&run),
            [
                " 3 rows  not available here: no runtime",
                " spawn  not available here: no programs",
                // Of another group, and two are named.
                " view  not available here: no programs",
                " window  not available here: no programs",
            ]
        );
    }

    #[test]
    fn rows_with_a_figure_are_never_put_together() {
        let mut run = missing(&[("objc.a", "none"), ("objc.b", "none"), ("objc.c", "none")]);
        let figure = synthetic::run().rows.into_iter();
        let figure = figure.filter(|row| row.estimate().is_some()).take(3);
        let count = 1 + figure
            .map(|row| {
                run.rows.insert(
                    1,
                    Row {
                        id: format!("objc.{}", row.id),
                        ..row
                    },
                )
            })
            .count();
        let lines = lines(&run);
        assert!(lines[0].starts_with(" a  not available"), "{lines:?}");
        assert!(
            !lines.iter().any(|line| line.contains(" rows  ")),
            "{lines:?}"
        );
        assert!(lines.len() > count, "{lines:?}");
    }
}
