//! A publication's table with this machine's figures beside: the text of
//! `latlas table`.

mod claims;
mod columns;
mod costs;
mod elements;
mod notes;
mod ours;
mod wide;

#[cfg(test)]
mod tests;

use super::{header, joined, machine};
use compare::references::Form;
use compare::tables::{PublishedTable, TablePart};
use model::phrases::short_id;
use model::run::Run;
use model::story::{self, Block};
use model::utc;

/// How a published table is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct PublishedOptions<'a> {
    /// Every column, each figure in ns as it is, however wide.
    pub wide: bool,
    /// Columns of the page: names are broken where it is narrow.
    pub columns: usize,
    /// Rows that this program could measure: what the advice may name. None
    /// where that is not known.
    pub measurable: Option<&'a [String]>,
}

/// The table as text. `run` is the one that it was filled in from.
pub fn published(
    table: &PublishedTable,
    run: Option<&Run>,
    options: &PublishedOptions,
) -> Vec<Block> {
    let mut parts = vec![heading(table, run)];
    parts.extend(part_tables(table, options));
    joined(parts)
}

/// The table for a page that says itself what machine and run it is of.
pub(crate) fn published_on_page(table: &PublishedTable, options: &PublishedOptions) -> Vec<Block> {
    let mut parts = vec![columns_in_words(table)];
    parts.extend(part_tables(table, options));
    joined(parts)
}

/// The tables of the parts, and what to know about them.
fn part_tables(table: &PublishedTable, options: &PublishedOptions) -> Vec<Vec<Block>> {
    let mut parts = Vec::new();
    let mut notes = notes::Notes::default();
    if options.wide {
        parts.push(wide::wide_table(table));
    } else {
        for part in &table.parts {
            parts.push(drawn(table, part, &mut notes, options.columns));
        }
    }
    parts.push(claims::claims(table));
    parts.push(notes.below(table, options));
    parts.retain(|part| !part.is_empty());
    parts
}

fn drawn(
    table: &PublishedTable,
    part: &TablePart,
    notes: &mut notes::Notes,
    columns: usize,
) -> Vec<Block> {
    let of_elements = |row: &compare::tables::TableRow| {
        let mut figures = row.published.iter().flatten();
        figures.any(|p| p.figure.ns_per_element.is_some())
    };
    if part.rows.iter().any(of_elements) {
        elements::part(table, part, notes)
    } else if table.form == Form::Costs {
        costs::part(table, part, notes, columns)
    } else {
        columns::part(table, part, notes)
    }
}

/// Whose figures stand in each column.
fn columns_in_words(table: &PublishedTable) -> Vec<Block> {
    let fact = |column: &compare::tables::Column| fact(column_name(&column.key), &column.title);
    table.columns.iter().map(fact).collect()
}

fn fact(label: &str, text: &str) -> Block {
    Block::labelled(format!("{label:<15} "), text)
}

/// What it is, whose figures stand in it, and on what ours were measured.
fn heading(table: &PublishedTable, run: Option<&Run>) -> Vec<Block> {
    let mut blocks = header::warning_blocks(run);
    blocks.push(Block::Heading(table.title.clone()));
    blocks.extend(columns_in_words(table));
    let mut fact = |label: &str, text: &str| blocks.push(fact(label, text));
    match run {
        None => fact("this machine", "not measured yet"),
        Some(run) => {
            fact("this machine", &run.machine.one_line());
            let id = short_id(&run.id);
            let when = utc::readable_utc(run.started_unix_ms);
            fact("run", &format!("{id}, {when}, {}", header::program_line(&run.program)));
            if let Some(filesystem) = table.files_on() {
                fact("files on", &machine::files_on_text(filesystem));
            }
        }
    }
    blocks
}

/// A part's table below its title, where it has one.
fn titled(part: &TablePart, page: story::Table) -> Vec<Block> {
    let title = Some(&part.title).filter(|title| !title.is_empty());
    let title = title.map(|title| Block::Heading(title.clone()));
    title.into_iter().chain([Block::Table(page)]).collect()
}

/// Places of the columns that have a figure for one of the part's rows.
fn columns_with_figures(table: &PublishedTable, part: &TablePart) -> Vec<usize> {
    let has_figure = |at: &usize| {
        let mut rows = part.rows.iter();
        rows.any(
            |row| matches!(row.published.get(*at), Some(Some(p)) if p.reference_row().has_figure()),
        )
    };
    (0..table.columns.len()).filter(has_figure).collect()
}

/// What a column of published figures is headed by.
fn column_name(key: &str) -> &str {
    super::table::short_title(key)
}
