//! Runs beside each other: what differs, what is the same within noise, and
//! what can't be told.

use super::content::Content;
use super::{Section, charts_of};
use crate::html::{Place, paint};
use crate::render::comparison::{Detail, footer, header, table};
use compare::Comparison;
use maud::{Markup, html};

/// The section; empty where there is one run.
pub(super) fn section(content: &Content) -> Markup {
    html! {
        @if !content.comparisons.is_empty() {
            section #comparison aria-labelledby="h-comparison" {
                h2 #h-comparison { "Compared with other runs" }
                p.lead {
                    "Ratios of this run, B, over another one, A, with their 95 % intervals. What is called "
                    "different is so beyond what runs of this machine differ by; docs/compare.md describes "
                    "the statistics."
                }
                (paint(&charts_of(content, Section::Comparison), Place::CHAPTER))
                @for comparison in content.comparisons { (one(comparison)) }
            }
        }
    }
}

fn one(comparison: &Comparison) -> Markup {
    let name = format!("{} over {}", comparison.b.name, comparison.a.name);
    html! {
        h3 { (name) }
        (paint(&header(comparison), Place::CHAPTER))
        details.folded {
            summary { "Figures" span.hidden { " of " (name) } }
            (paint(&table(&comparison.rows, Detail::All), Place::CHAPTER))
        }
        (paint(&footer(comparison, false), Place::CHAPTER))
    }
}
