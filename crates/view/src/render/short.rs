//! A run on a few screens: a line for each figure, families of alike rows
//! folded, what is missing or uncertain gathered at the end.

use super::columns::{self, FigureLine, Said};
use super::doubts::doubts;
use super::figures::counted;
use super::table::{group_of, in_group, short_title, tables};
use super::{Options, Story, footer, header, joined, picture, stories};
use crate::grouped::grouped;
use compare::references::{Reference, References};
use model::estimate::{Estimate, Verdict};
use model::overview::{Doubt, cause_of};
use model::pattern::matches;
use model::phrases::several;
use model::run::{Outcome, Row, Run};
use model::story::core_to_core::{self, Pairs};
use model::story::{Block, Cell, Note, left, levels};
use model::tally::tally;

/// Of the rows of a run that match one of these, the first stands for all.
const FAMILIES: [&str; 14] = [
    "collections.sort/*",
    "collections.find_text/*",
    "memory.naive_xor/*",
    "cpu.*_i32*",
    "cpu.*_f32*",
    "cpu.*_as_ash",
    "cpu.timer/*",
    "sync.handoff/*_cpu",
    "sync.signal/*",
    "alloc.mmap_munmap/*",
    "pool.*",
    "file.write_whole/*",
    "file.write_whole_atomic/*",
    "file.read_whole/*",
];
/// What marks and columns of the page are.
const SHORT: &str = "±: half of the 95 % interval (* in ns at the clock of this run: compare runs in \
    cycles). After a published figure: how this machine compares (~ same job through other code, ? \
    doubtful).";
/// Libraries that most systems don't have, by how the reason of their rows begins.
const LIBRARIES: [(&str, &str); 3] = [
    ("needs the pack foundation.so", "Objective-C"),
    ("needs the pack appkit.so", "AppKit"),
    ("libdispatch not found", "libdispatch"),
];
/// Rows that are named where several are meant.
const NAMED: usize = 4;

pub(super) fn short(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    let against = tables(references, options);
    let mut parts = vec![header::short(run), vec![groups(run, &against, options)]];
    let mut curve = levels::story(run);
    curve.extend(picture(run, levels::LATENCY));
    parts.push(curve);
    parts.push(conclusions(run, references));
    let mut end = doubts(run, references, options);
    end.extend(uncertain(run));
    end.extend(missing_rows(run));
    end.push(Block::text(points(run)));
    end.extend(footer::keys(run, options, SHORT));
    end.extend(footer::kept_note(run, options));
    end.push(footer::next_commands(
        options,
        [
            "show --all` (every row, curve and reason)",
            "report` (HTML)",
            "explain call.syscall` (a row)",
        ],
    ));
    parts.push(end);
    joined(parts)
}

/// A table for each group of rows that are single figures.
fn groups(run: &Run, against: &[&Reference], options: &Options) -> Block {
    let figures = run.rows.iter().filter(|row| row.estimate().is_some());
    let figures: Vec<&Row> = figures.collect();
    let groups = figures.chunk_by(|a, b| group_of(&a.id) == group_of(&b.id));
    let of_group = |rows: &[&Row]| {
        let columns = columns(run, group_of(&rows[0].id), against, options);
        let mut table = columns::columns_table(&columns);
        let firsts = first_of_families(rows);
        firsts.iter().for_each(|row| table.row(row_cells(row, &columns)));
        let folded = rows.len() - firsts.len();
        if folded > 0 {
            table.note(" ", format!("{folded} more: --all"));
        }
        table
    };
    Block::Tables(groups.map(of_group).collect())
}

/// Of rows of a group the first of each family.
pub(super) fn first_of_families<'r>(rows: &[&'r Row]) -> Vec<&'r Row> {
    let mut seen: Vec<&str> = Vec::new();
    let mut firsts = rows.to_vec();
    firsts.retain(|row| {
        let family = FAMILIES.iter().find(|family| matches(family, &row.id));
        let is_first = family.is_none_or(|family| !seen.contains(family));
        seen.extend(family);
        is_first
    });
    firsts
}

fn columns<'t>(
    run: &'t Run,
    group: &str,
    against: &'t [&Reference],
    options: &Options,
) -> Vec<Said<'t>> {
    let mut columns = vec![columns::name_column(group), columns::time(), columns::cycle_count()];
    columns.extend(columns::asked(run, options, against, short_title));
    columns.push(columns::said(left("verdict"), |entry| {
        let verdict = entry.estimate.verdict.text();
        let mode = entry.estimate.mode().map(|mode| format!("{verdict}, {mode}"));
        Cell::from(mode.unwrap_or_else(|| verdict.into())).toned(entry.estimate.verdict)
    }));
    columns
}

fn row_cells(row: &Row, columns: &[Said]) -> Vec<Cell> {
    let name = format!(" {}", in_group(&row.id));
    let entry = |estimate| FigureLine { name, row, at: &[], estimate };
    row.estimate().map_or(Vec::new(), |estimate| columns::figure_cells(columns, &entry(estimate)))
}

/// What follows from several figures, without their tables.
fn conclusions(run: &Run, references: &References) -> Vec<Block> {
    let pairs = Pairs::measured_in(run).map(|pairs| format!("{}: {pairs}", core_to_core::PROBE));
    let of_story = |story: Story| {
        let notes = story.blocks.into_iter().filter_map(|block| match block {
            Block::Note(note) if !note.text.is_empty() => Some(note),
            _ => None,
        });
        let text = |note: Note| match note.label.trim() {
            "" => format!("{}: {}", story.rows, note.text),
            label => format!("{}, {label}: {}", story.rows, note.text),
        };
        notes.map(text).collect::<Vec<_>>()
    };
    let stories = stories(run, references).into_iter().flat_map(of_story);
    let all = pairs.into_iter().chain(stories);
    all.map(|text| Block::labelled("- ", text)).collect()
}

/// Rows that are not to be relied on, by verdict, and the likely cause.
fn uncertain(run: &Run) -> Vec<Block> {
    let verdict = |estimate: &Estimate| Some(estimate.verdict).filter(|v| *v != Verdict::Ok);
    let rows = run.rows.iter();
    let rows = rows.filter_map(|row| Some((verdict(row.estimate()?)?, row.id.as_str())));
    let mut blocks: Vec<Block> = grouped(rows)
        .into_iter()
        .map(|(verdict, rows)| {
            let label = format!("{} {} ({}): ", verdict.mark(), verdict.text(), rows.len());
            Block::labelled(label, several(&rows, NAMED))
        })
        .collect();
    let doubt = Doubt::about_run(run);
    if let Some((cause, remedy)) = cause_of(run).zip(doubt.and_then(|doubt| doubt.remedy())) {
        let text = format!("{cause}. For steadier results {remedy}.");
        blocks.push(Block::labelled("likely cause: ", text));
    }
    blocks
}

/// Rows that can't be measured here, by reason; those of libraries that most
/// systems don't have in one line.
fn missing_rows(run: &Run) -> Vec<Block> {
    let rows = run.rows.iter().filter_map(|row| match &row.outcome {
        Outcome::Unavailable { reason } => Some((reason.as_str(), row.id.as_str())),
        _ => None,
    });
    let (optional, others): (Vec<_>, Vec<_>) =
        rows.partition(|(reason, _)| library(reason).is_some());
    let mut blocks: Vec<Block> = grouped(others)
        .into_iter()
        .map(|(reason, rows)| {
            let label = format!("not available here ({}): ", rows.len());
            Block::labelled(label, format!("{reason}: {}", several(&rows, NAMED)))
        })
        .collect();
    let names = grouped(optional.iter().filter_map(|(reason, id)| Some((library(reason)?, *id))));
    let names: Vec<String> =
        names.iter().map(|(name, rows)| format!("{name} ({})", rows.len())).collect();
    if !names.is_empty() {
        blocks.push(Block::labelled(
            format!("not available here ({}): ", optional.len()),
            format!("rows of {}: latlas show --all lists them", names.join(", ")),
        ));
    }
    blocks
}

/// The library that most systems don't have, where that is why a row is missing.
pub(super) fn library(reason: &str) -> Option<&'static str> {
    LIBRARIES.iter().find_map(|(start, name)| reason.starts_with(start).then_some(*name))
}

/// How many figures there are, and that curves are not on this page.
fn points(run: &Run) -> String {
    let tally = tally(run);
    let rows = tally.rows;
    let text = rows.ok_text();
    let curves = run
        .rows
        .iter()
        .filter(|row| matches!(row.outcome, Outcome::Curve { .. } | Outcome::Map { .. }));
    match curves.count() {
        0 => format!("{text}."),
        several => format!(
            "{text}; {} of {} points of {} too.",
            tally.points.ok,
            tally.points.total(),
            counted(several, "curve")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::plain;
    use model::run::Bound;
    use model::synthetic;
    use model::unit::Unit;

    #[test]
    fn rows_of_other_systems_are_counted_in_one_line() {
        let mut run = synthetic::run();
        run.rows.retain(|row| row.estimate().is_some());
        let mut add = |id: &str, reason: &str| {
            let outcome = Outcome::Unavailable { reason: reason.into() };
            run.rows.push(Row::new(id, Unit::Time, Bound::Memory, outcome));
        };
        add("objc.message", "needs the pack foundation.so (make it)");
        add("objc.retain", "needs the pack foundation.so (make it)");
        add("ui.view_create", "needs the pack appkit.so (make it)");
        add("dispatch.sync", "libdispatch not found (needs a toolchain)");
        add("dispatch.async", "libdispatch (/lib/x) has no function y");
        add("numa.latency", "one NUMA node");
        let text = plain(&missing_rows(&run));
        assert_eq!(
            text,
            "not available here (1): libdispatch (/lib/x) has no function y: dispatch.async\n\
             not available here (1): one NUMA node: numa.latency\n\
             not available here (4): rows of Objective-C (2), AppKit (1), libdispatch (1): latlas show --all\n                        \
             lists them\n"
        );
    }
}
