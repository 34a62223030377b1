//! One page to look at: a run as a self-contained HTML file, which opens from a
//! disk, asks no network for anything, and says so in its policy. Pictures are
//! SVG; a script that is part of the page adds pointing, zooming and sorting.
//!
//! What it shares with other pages is [`crate::html`]'s.

mod comparison;
mod content;
mod facts;
mod first;
mod fleet;
mod head;
mod ladder;
mod marks;
mod methods;
mod past;
mod published;
#[cfg(test)]
mod tests;

pub use content::{Content, Link, Offered, Shown};
pub use facts::link;
pub use fleet::fleet_page;
pub use past::{histories, set_over_time};

use crate::chart::{Section, footer};
use crate::html::{Place, finished, keys, paint, script, style};
use crate::render::{Options, recorded, stories};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::story::{Block, core_to_core, levels};

/// What the page's generator is called: by it a page is known for ours before
/// it is replaced.
pub const GENERATOR: &str = "latlas report";

/// Whether a file's first bytes are those of a page that [`page`] made.
pub fn is_ours(head: &[u8]) -> bool {
    let mark = format!("<meta name=\"generator\" content=\"{GENERATOR}\"");
    head.windows(mark.len()).any(|bytes| bytes == mark.as_bytes())
}

pub fn page(content: &Content) -> String {
    let run = content.first().run;
    let style = style() + &ladder::style(content) + &first::style(content);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head::head(content, &style))
            body {
                a.skip href="#main" { "Skip to the figures" }
                (bar(content))
                (first::header(content))
                main #main tabindex="-1" data-source=(footer(run)) {
                    (keys())
                    (first::section(content))
                    (recordings(content))
                    (ladder::section(content))
                    @for part in &PARTS { (chapter(content, part)) }
                    (comparison::section(content))
                    (published::section(content))
                    (facts::conditions(content))
                    (facts::section(content))
                    (methods::section(content))
                }
                (facts::footer(content))
                script { (PreEscaped(script())) }
            }
        }
    };
    finished(markup)
}

/// A part of the page that is pictures.
struct Part {
    section: Section,
    anchor: &'static str,
    title: &'static str,
    /// What is asked there.
    lead: &'static str,
}

const PARTS: [Part; 5] = [
    Part {
        section: Section::Memory,
        anchor: "memory",
        title: "Memory",
        lead: "How long a load takes and how much gets through, by the size of what is touched.",
    },
    Part {
        section: Section::Threads,
        anchor: "threads",
        title: "Threads and cores",
        lead: "What a thread's life costs, how work spreads over threads, and how far cores are apart.",
    },
    Part {
        section: Section::Files,
        anchor: "files",
        title: "Files",
        lead: "Reading, opening, creating and deleting files, by their size.",
    },
    Part {
        section: Section::Noise,
        anchor: "noise",
        title: "Noise",
        lead: "What took the CPU away from a thread that only spins, just before and just after.",
    },
    Part {
        section: Section::History,
        anchor: "history",
        title: "History",
        lead: "The same rows over the last 40 kept runs of this machine: those that changed, and the best known. latlas plot history:ROW draws any row over all runs.",
    },
];

/// The pictures of a part.
fn charts_of(content: &Content, section: Section) -> Vec<Block> {
    let charts = content.charts().filter(|chart| chart.section == section);
    charts.cloned().map(Block::chart).collect()
}

/// What a terminal shows of a part: the figures of its pictures and what follows
/// from them.
fn as_text(content: &Content, section: Section) -> Vec<Block> {
    let run = content.first().run;
    let mut blocks = Vec::new();
    if section == Section::Memory {
        blocks.extend(levels::story(run));
    }
    if section == Section::Threads {
        blocks.extend(core_to_core::story(run));
    }
    let stories = stories(run, content.references).into_iter();
    blocks.extend(stories.filter(|story| story.section == section).flat_map(|story| story.blocks));
    blocks
}

fn chapter(content: &Content, part: &Part) -> Markup {
    let charts = charts_of(content, part.section);
    let text = as_text(content, part.section);
    html! {
        @if !charts.is_empty() {
            section #(part.anchor) aria-labelledby={ "h-" (part.anchor) } {
                h2 id={ "h-" (part.anchor) } { (part.title) }
                p.lead { (part.lead) }
                @if part.section == Section::Threads {
                    @if let Some(pair) = core_to_core::only_pair(content.first().run) { p { (pair) "." } }
                }
                (paint(&charts, Place::CHAPTER))
                @if !text.is_empty() {
                    details.folded {
                        summary { "As text" span.hidden { ": " (part.title) } }
                        (paint(&text, Place::CHAPTER))
                    }
                }
            }
        }
    }
}

/// What recordings say; their pictures stand in their parts.
fn recordings(content: &Content) -> Markup {
    let run = content.first().run;
    let stories = run.recordings.iter().map(|recording| {
        let options = Options { wide: true, ..Options::default() };
        let parts = recorded::story(run, recording, content.references, &options);
        let texts = parts.into_iter().flatten().filter(|block| !matches!(block, Block::Chart(_)));
        (recording.name(), texts.collect::<Vec<Block>>())
    });
    html! {
        @for (number, (name, blocks)) in stories.enumerate() {
            section #{ "recording-" (number) } aria-labelledby={ "h-recording-" (number) } {
                h2 id={ "h-recording-" (number) } { (name) }
                (paint(&blocks, Place::CHAPTER))
            }
        }
    }
}

/// The bar that stays in sight: where to go, and how it looks.
fn bar(content: &Content) -> Markup {
    let parts = PARTS.iter().filter(|part| !charts_of(content, part.section).is_empty());
    html! {
        nav.bar aria-label="Parts of this page" {
            p.brand { "latlas" @if let Some(href) = content.all_runs { " " a href=(href) { "All runs" } } }
            div.links {
                a href="#ladder" { "All rows" }
                @for part in parts { a href={ "#" (part.anchor) } { (part.title) } }
                @if !content.comparisons.is_empty() { a href="#comparison" { "Comparison" } }
                a href="#conditions" { "Conditions" }
                a href="#machine" { "Machine" }
                a href="#methods" { "Methods" }
            }
            button.theme #theme type="button" hidden { "Dark" }
        }
    }
}
