//! Runs beside each other: what differs, what is the same within noise, and
//! what can't be told.

use super::GENERATOR;
use super::content::Content;
use crate::chart::numbered;
use crate::html::policy::meta;
use crate::html::{PageContext, code_spans, finished, keys, paint, script, style};
use crate::render::comparison::{Detail, comparison, comparison_tables, footer, header, summary};
use compare::Comparison;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::story::{Block, Link};

/// The answer, which the page opens on: how much differs, what most, and in what the two sides were measured
/// differently. Empty where there is one run.
pub(super) fn opening(content: &Content) -> Markup {
    let none = content.left_out.iter().filter(|left| left.id.starts_with("comparison"));
    html! {
        @if !content.others.is_empty() {
            section.answer #answer aria-labelledby="h-answer" {
                h2 #h-answer { "Against " (names(content)) }
                @for left in none { p { "No comparison: " (left.why) "." } }
                @for (at, comparison) in content.comparisons.iter().enumerate() {
                    (answer(content, at, comparison))
                }
            }
        }
    }
}

fn names(content: &Content) -> String {
    let names = content.others.iter().map(|other| other.name);
    names.collect::<Vec<_>>().join(", ")
}

fn answer(content: &Content, at: usize, comparison: &Comparison) -> Markup {
    let chart = |id: &str| {
        let id = numbered(id, at);
        let found = content.charts().find(|chart| chart.id == id);
        paint(
            &found.cloned().map(Block::chart).into_iter().collect::<Vec<_>>(),
            PageContext::CHAPTER,
        )
    };
    let blocks = summary(comparison);
    let (sentence, largest) = blocks.split_at(1);
    let place = PageContext { href: &row_on_page, ..PageContext::CHAPTER };
    html! {
        div.verdict {
            @if content.comparisons.len() > 1 { h3 { (over(comparison)) } }
            (paint(sentence, PageContext::CHAPTER))
        }
        div.opening {
            div {
                (chart("comparison"))
                @if comparison.rows.iter().all(|row| row.ratio.is_none()) {
                    p.lead { "No row has a ratio: why stands beside each, in the comparison below." }
                }
            }
            div {
                (paint(largest, place))
                (paint(&header(comparison), PageContext::CHAPTER))
                (chart("slope"))
            }
        }
    }
}

/// Where a row of the run stands on its page.
fn row_on_page(link: &Link) -> Option<String> {
    match link {
        Link::Row { id, at } if at.is_empty() => Some(format!("#row-{id}")),
        _ => None,
    }
}

fn over(comparison: &Comparison) -> String {
    format!("{} over {}", comparison.b.name, comparison.a.name)
}

/// A page of comparisons alone, without a run's own figures.
pub fn comparison_html(all: &[Comparison]) -> String {
    let title = all.first().map_or_else(String::new, over);
    let parts = all.iter().map(|one| (over(one), comparison(one, true))).collect::<Vec<_>>();
    answer_html(&title, "What differs", &parts)
}

/// A page that answers one question: a heading, and blocks under each name.
pub fn answer_html(title: &str, heading: &str, parts: &[(String, Vec<Block>)]) -> String {
    finished(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(GENERATOR, script()))
                title { (title.replace('`', "")) }
                style { (PreEscaped(style())) }
            }
            body {
                header.top { h1 { (code_spans(heading)) } }
                main #main {
                    (keys())
                    @for (name, blocks) in parts {
                        h2 { (name) }
                        (paint(blocks, PageContext::CHAPTER))
                    }
                }
                script { (PreEscaped(script())) }
            }
        }
    })
}

/// The figures; empty where there is one run.
pub(super) fn section(content: &Content) -> Markup {
    html! {
        @if !content.comparisons.is_empty() {
            section #comparison aria-labelledby="h-comparison" {
                h2 #h-comparison { "Compared with other runs" }
                p.lead {
                    "Ratios of this run, B, over another one, A, with their 95 % intervals. Different: "
                    "beyond the variation between runs of this machine; `latlas help compare` describes the "
                    "statistics. " a href="#answer" { "The answer" } " stands first on this page."
                }
                @for comparison in content.comparisons { (one(comparison)) }
            }
        }
    }
}

fn one(comparison: &Comparison) -> Markup {
    let name = over(comparison);
    let place = PageContext { href: &row_on_page, ..PageContext::CHAPTER };
    html! {
        h3 { (name) }
        details.folded {
            summary { "Figures" span.hidden { " of " (name) } }
            (paint(&comparison_tables(&comparison.rows, Detail::All), place))
        }
        (paint(&footer(comparison, false), PageContext::CHAPTER))
    }
}
