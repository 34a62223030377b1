//! One page to look at: a run as a self-contained HTML file, which opens from a
//! disk, asks no network for anything, and says so in its policy. Pictures are
//! SVG; a script that is part of the page adds pointing, zooming and sorting.
//!
//! What it shares with other pages is [`crate::html`]'s.

mod comparison;
mod content;
mod facts;
mod first;
mod head;
mod ladder;
mod marks;
mod methods;
mod past;
mod published;
mod shared;
#[cfg(test)]
mod tests;

pub use comparison::{answer_html, comparison_html};
pub use content::{Content, Link, Offered, TitledRun};
pub use facts::link;
pub use past::{histories, set_over_time};
pub use shared::{SharedContent, card, shared_html};

use crate::chart::{Section, footer};
use crate::html::{PageContext, finished, keys, paint, script, style};
use crate::render::{Options, recorded, stories};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::story::{Block, core_to_core, levels};

/// What the page's generator is called: by it a page is known for ours before
/// it is replaced.
pub const GENERATOR: &str = "latlas report";

/// Whether a file's first bytes are those of a page that [`report_html`] made.
pub fn is_ours(head: &[u8]) -> bool {
    let mark = format!("<meta name=\"generator\" content=\"{GENERATOR}\"");
    head.windows(mark.len()).any(|bytes| bytes == mark.as_bytes())
}

pub fn report_html(content: &Content) -> String {
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
                    (comparison::opening(content))
                    @if !content.others.is_empty() { (first::ratio_list(run)) }
                    // A run that is a recording opens on what that says.
                    @if run.is_of_recording() { (recordings(content)) }
                    (first::section(content))
                    @if !run.is_of_recording() { (recordings(content)) }
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
struct PictureSection {
    section: Section,
    anchor: &'static str,
    title: &'static str,
    /// What is asked there.
    lead: &'static str,
}

const PARTS: [PictureSection; 5] = [
    PictureSection {
        section: Section::Memory,
        anchor: "memory",
        title: "Memory",
        lead: "Latency of a load and bandwidth, by working-set size.",
    },
    PictureSection {
        section: Section::Threads,
        anchor: "threads",
        title: "Threads and cores",
        lead: "Thread life cycle, scheduling and core-to-core latency.",
    },
    PictureSection {
        section: Section::Files,
        anchor: "files",
        title: "Files",
        lead: "Reading, opening, creating and deleting files, by their size.",
    },
    PictureSection {
        section: Section::Noise,
        anchor: "noise",
        title: "Noise",
        lead: "OS noise: interruptions of a spinning thread, before and after the run.",
    },
    PictureSection {
        section: Section::History,
        anchor: "history",
        title: "History",
        lead: "The same rows over the last 40 kept runs of this machine: those that changed, and those known best. latlas plot history:ROW draws any row over all runs.",
    },
];

/// The pictures of a part.
fn charts_of(content: &Content, section: Section) -> Vec<Block> {
    let charts = content.charts().filter(|chart| chart.section == section);
    charts.cloned().map(Block::chart).collect()
}

/// The same without those that stand in the story of a recording.
fn chapter_charts(content: &Content, section: Section) -> Vec<Block> {
    let told = recorded::charts_of_stories(content.first().run, content.references);
    let is_told = |block: &Block| match block {
        Block::Chart(chart) => told.iter().any(|other| other.id == chart.id),
        _ => false,
    };
    charts_of(content, section).into_iter().filter(|block| !is_told(block)).collect()
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

fn chapter(content: &Content, part: &PictureSection) -> Markup {
    let charts = chapter_charts(content, part.section);
    let text = as_text(content, part.section);
    html! {
        @if !charts.is_empty() {
            section #(part.anchor) aria-labelledby={ "h-" (part.anchor) } {
                h2 id={ "h-" (part.anchor) } { (part.title) }
                p.lead { (part.lead) }
                @if part.section == Section::Threads {
                    @if let Some(pair) = core_to_core::only_pair(content.first().run) { p { (pair) "." } }
                }
                (paint(&charts, PageContext::CHAPTER))
                @if !text.is_empty() {
                    details.folded {
                        summary { "As text" span.hidden { ": " (part.title) } }
                        (paint(&text, PageContext::CHAPTER))
                    }
                }
            }
        }
    }
}

/// What recordings say.
fn recordings(content: &Content) -> Markup {
    let options = Options { wide: true, ..Options::default() };
    let stories = recorded::stories_of(content.first().run, content.references, &options);
    html! {
        @for (number, (name, blocks)) in stories.iter().enumerate() {
            section #{ "recording-" (number) } aria-labelledby={ "h-recording-" (number) } {
                h2 id={ "h-recording-" (number) } { (name) }
                (paint(blocks, PageContext::CHAPTER))
            }
        }
    }
}

/// The bar that stays in sight: where to go, and how it looks.
fn bar(content: &Content) -> Markup {
    let parts = PARTS.iter().filter(|part| !chapter_charts(content, part.section).is_empty());
    html! {
        nav.bar aria-label="Parts of this page" {
            p.brand { "latlas" @if let Some(href) = content.all_runs { " " a href=(href) { "All runs" } } }
            div.links {
                @if !content.others.is_empty() { a href="#answer" { "Answer" } }
                a href="#ladder" { "All rows" }
                @for part in parts { a href={ "#" (part.anchor) } { (part.title) } }
                @if !content.comparisons.is_empty() { a href="#comparison" { "Comparison" } }
                a href="#conditions" { "Conditions" }
                a href="#machine" { "Machine" }
                @if methods::is_there(content) { a href="#methods" { "Methods" } }
            }
            button.theme #theme type="button" hidden { "Dark" }
        }
    }
}
