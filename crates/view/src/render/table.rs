//! The default table: single figures, one line each, by group.

use super::Options;
use super::columns::{self, FigureLine, Said};
use compare::references::{DEFAULT_KEY, Reference, References};
use model::run::{Outcome, Row, Run};
use model::story::tail::notes_of_row;
use model::story::{Block, Table, left};

/// The table; empty where the run holds only curves.
pub(super) fn rows_table(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    let counterpart = tables(references, options);
    let mut groups: Vec<Table> = Vec::new();
    let mut columns = Vec::new();
    let mut group = "";
    let mut rest = &run.rows[..];
    while let Some(row) = rest.first() {
        let these = alike(rest);
        rest = &rest[these..];
        if matches!(row.outcome, Outcome::Curve { .. } | Outcome::Map { .. }) {
            continue;
        }
        if group_of(&row.id) != group || groups.is_empty() {
            group = group_of(&row.id);
            columns = self::columns(run, group, &counterpart, options);
            groups.push(columns::columns_table(&columns));
        }
        let Some(table) = groups.last_mut() else {
            continue;
        };
        match &row.outcome {
            Outcome::Unavailable { reason } => {
                let label = match these {
                    1 => format!(" {}  ", in_group(&row.id)),
                    several => format!(" {several} rows  "),
                };
                table.note(label, format!("not available here: {reason}"));
            }
            _ => add_figure(table, row, &columns),
        }
    }
    // What was asked for beside the usual columns comes on top.
    let extra = 8 * usize::from(options.human) + 6 * usize::from(options.frames);
    groups.iter_mut().for_each(|table| table.extra = extra);
    vec![Block::Tables(groups)]
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
pub fn group_of(id: &str) -> &str {
    id.split_once('.').map_or(id, |(group, _)| group)
}

/// The id below its group's heading.
pub fn in_group(id: &str) -> &str {
    id.split_once('.').map_or(id, |(_, name)| name)
}

/// The published tables to set beside: those asked for, else the 2012 list.
pub(super) fn tables<'a>(references: &'a References, options: &'a Options) -> Vec<&'a Reference> {
    if options.versus.is_empty() {
        references.find(DEFAULT_KEY).into_iter().collect()
    } else {
        options.versus.iter().collect()
    }
}

fn columns<'t>(
    run: &'t Run,
    group: &str,
    tables: &'t [&Reference],
    options: &Options,
) -> Vec<Said<'t>> {
    let typical = columns::of_all_samples(left("typical").optional());
    let mut columns =
        vec![columns::name_column(group), columns::quiet(), columns::cycle_count(), typical];
    columns.extend(columns::asked(run, options, tables, short_title));
    columns.push(columns::verdict());
    columns
}

/// What a column is headed by.
pub(crate) fn short_title(key: &str) -> &str {
    match key {
        DEFAULT_KEY => "2012 list",
        key => key,
    }
}

fn add_figure(table: &mut Table, row: &Row, columns: &[Said]) {
    let Some(estimate) = row.estimate() else {
        return;
    };
    let name = format!(" {}", in_group(&row.id));
    table.row(columns::figure_cells(columns, &FigureLine { name, row, at: &[], estimate }));
    for text in notes_of_row(&row.id, estimate, &row.unit) {
        table.note("      └ ", text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{paint_plain, plain};
    use model::synthetic;

    /// A run of rows that are missing for these reasons.
    fn missing(rows: &[(&str, &str)]) -> Run {
        let run = synthetic::run();
        let rows = rows.iter().map(|(id, reason)| Row {
            id: (*id).into(),
            outcome: Outcome::Unavailable { reason: (*reason).into() },
            ..run.rows[0].clone()
        });
        Run { rows: rows.collect(), ..run.clone() }
    }

    fn table_lines(run: &Run) -> Vec<String> {
        let references = References::embedded().expect("references");
        let text = plain(&rows_table(run, &references, &Options::default()));
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
            table_lines(&run),
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
    fn every_row_with_a_figure_prints_one_at_any_width() {
        let mut run = synthetic::run();
        let row = run.row("sync.semaphore_switch/free").expect("a row").clone();
        let mut typical_alone = synthetic::stamped_figure(3_300.0, 40.0);
        typical_alone.quiet = None;
        run.rows = ["semaphore_switch/free", "semaphore_switch/with_a_much_longer_name"]
            .map(|name| Row {
                id: format!("sync.{name}"),
                outcome: Outcome::Figure(typical_alone.clone()),
                ..row.clone()
            })
            .into_iter()
            .collect();
        let references = References::embedded().expect("references");
        let blocks = rows_table(&run, &references, &Options::default());
        for columns in [60, 80, 100, 140] {
            let text = paint_plain(&blocks, columns);
            assert_eq!(text.matches("\n sem").count(), 2, "{text}");
            // A long name may stand above it.
            let figures = text.lines().filter(|l| l.contains(" 3.30 ") && l.contains(" µs "));
            assert_eq!(figures.count(), 2, "{columns} columns:\n{text}");
        }
        // Where its own column has no room it is named, since the other is of quiet figures.
        let named = |columns| paint_plain(&blocks, columns).contains(" typical 3.30 µs ");
        assert!((60..140).any(named));
        assert!(!named(140));
    }

    #[test]
    fn rows_with_a_figure_are_never_put_together() {
        let mut run = missing(&[("objc.a", "none"), ("objc.b", "none"), ("objc.c", "none")]);
        let figure = synthetic::run().rows.into_iter();
        let figure = figure.filter(|row| row.estimate().is_some()).take(3);
        let count = 1 + figure
            .map(|row| run.rows.insert(1, Row { id: format!("objc.{}", row.id), ..row }))
            .count();
        let lines = table_lines(&run);
        assert!(lines[0].starts_with(" a  not available"), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains(" rows  ")), "{lines:?}");
        assert!(lines.len() > count, "{lines:?}");
    }
}
