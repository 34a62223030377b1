//! Published tables as their authors laid them out, with this machine beside.

use super::content::Content;
use crate::html::{Place, paint};
use crate::render::{PublishedOptions, published_on_page};
use compare::references::Form;
use compare::tables::{TableRow, fill_in_beside};
use maud::{Markup, html};

/// Columns beyond which names would be broken: a page breaks its own.
const COLUMNS: usize = 200;

/// Each table, folded; empty where this run has none of their rows.
pub(super) fn section(content: &Content) -> Markup {
    let run = content.first().run;
    let options = PublishedOptions { columns: COLUMNS, ..PublishedOptions::default() };
    let has_ours = |row: &TableRow| row.shown().is_some();
    let layouts = content.references.layouts.iter();
    // A run has no jobs.
    let layouts = layouts.filter(|layout| layout.form != Form::Qos);
    let others: Vec<_> = content.others.iter().map(|other| other.run).collect();
    let tables =
        layouts.map(|layout| fill_in_beside(layout, content.references, Some(run), false, &others));
    let tables: Vec<_> = tables.filter(|table| table.rows().any(has_ours)).collect();
    html! {
        @if !tables.is_empty() {
            section #published aria-labelledby="h-published" {
                h2 #h-published { "Published tables" }
                p.lead { "What others published of the same operations, with the runs of this page in the last columns." }
                @for table in &tables {
                    details.folded {
                        summary { (table.title) }
                        (paint(&published_on_page(table, &options), Place::CHAPTER))
                    }
                }
            }
        }
    }
}
