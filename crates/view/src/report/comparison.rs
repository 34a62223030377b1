//! Runs beside each other: what differs, what is the same within noise, and
//! what can't be told.

use super::content::Content;
use super::{Section, figure, of_section};
use crate::render::comparison::{compared_by, quantity, ratio};
use compare::{ComparedRow, Comparison};
use maud::{Markup, html};
use model::compare::finding::Finding;

/// The section; empty where there is one run.
pub(super) fn section(content: &Content) -> Markup {
    html! {
        @if !content.comparisons.is_empty() {
            section #comparison aria-labelledby="h-comparison" {
                h2 #h-comparison { "Compared with other runs" }
                p.lead {
                    "Ratios of this run over another one, with their 95 % intervals. What is called different "
                    "is so beyond what runs of this machine differ by; docs/compare.md describes the statistics."
                }
                div.figures { @for chart in of_section(content, Section::Comparison) { (figure::figure(chart)) } }
                @for comparison in content.comparisons { (one(comparison)) }
            }
        }
    }
}

fn one(comparison: &Comparison) -> Markup {
    let counts = [
        Finding::Different,
        Finding::SameWithinNoise,
        Finding::CannotTell,
    ]
    .map(|finding| format!("{} {}", comparison.count(finding), finding.text()))
    .join(", ");
    html! {
        h3 { (comparison.b.name) " over " (comparison.a.name) }
        p { (counts) "; " (comparison.method.cycles) "." }
        @if !comparison.differences.is_empty() {
            ul.notes { @for difference in &comparison.differences {
                li { (difference.what) ": " (difference.a) ", now " (difference.b) }
            } }
        }
        details.folded {
            summary { "Figures" span.hidden { " of " (comparison.b.name) " over " (comparison.a.name) } }
            div.scroll tabindex="0" role="region" aria-label={ (comparison.b.name) " over " (comparison.a.name) } {
            table.plain.compared {
                thead { tr {
                    th scope="col" { "row" }
                    th.n scope="col" { "before" }
                    th.n scope="col" { "now" }
                    th.n scope="col" { "ratio" }
                    th scope="col" { "finding" }
                } }
                tbody { @for row in &comparison.rows { (line(row)) } }
            }
            }
        }
    }
}

fn line(row: &ComparedRow) -> Markup {
    let sides = [&row.a, &row.b].map(|side| quantity(side, row));
    let [over, interval] = ratio(row);
    html! {
        tr data-finding=(row.finding.text()) {
            th scope="row" { (row.id) @if let Some(mode) = &row.mode { " (" (mode) ")" } (compared_by(row)) }
            @for [value, half] in &sides { td.n { (value) " " span.half { (half) } } }
            td.n data-ratio=[row.ratio.map(|r| r.value)] { (over) " " span.half { (interval) } }
            td {
                (row.finding.text()) @if let Some(direction) = row.direction { ": " (direction.text()) }
                @for why in &row.why { span.why { (why) } }
            }
        }
    }
}
