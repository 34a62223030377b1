//! Published tables as their authors laid them out, with this machine beside.

use super::content::Content;
use crate::html::{PageContext, paint};
use crate::render::{PublishedOptions, published_on_page, table_of_rows};
use compare::references::{Form, Reference};
use compare::tables::{TableRow, fill_in_beside, row_ids};
use maud::{Markup, html};
use model::phrases::counted;

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
    let tables = layouts.map(|layout| {
        let ids = row_ids(layout, content.references);
        let others = content.others.iter().map(|other| Reference::of_run(other.run, &ids));
        let others: Vec<Reference> = others.collect();
        fill_in_beside(layout, content.references, Some(run), false, &others)
    });
    let tables: Vec<_> = tables.filter(|table| table.rows().any(has_ours)).collect();
    let of_cpu = table_of_rows(run);
    html! {
        @if !(tables.is_empty() && of_cpu.is_empty()) {
            section #published aria-labelledby="h-published" {
                h2 #h-published { "Published tables" }
                p.lead { "What others published of the same operations, with the runs of this page in the last columns." }
                @if !of_cpu.is_empty() {
                    details.folded {
                        summary { "This CPU and many machines" }
                        (paint(&of_cpu, PageContext::CHAPTER))
                    }
                }
                @for table in &tables {
                    details.folded {
                        summary { (table.title) " (" (counted(table.rows().count(), "row")) ")" }
                        (paint(&published_on_page(table, &options), PageContext::CHAPTER))
                    }
                }
            }
        }
    }
}
