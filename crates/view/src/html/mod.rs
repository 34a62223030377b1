//! Blocks painted as HTML, and what all our pages share: the style, the script
//! for pictures and tables, the policy that names them.

mod figure;
pub mod policy;
mod rates;
mod sort_key;
mod strip;
mod table;

use crate::chart::svg::Theme;
use crate::terminal::layout::{finish, unmarked};
use maud::{Markup, html};
use model::estimate::Verdict;
use model::story::{Block, Link, Note, Tone};

pub use figure::chart_figure;
pub(crate) use rates::topic_class;

/// The style sheet of all our pages.
pub fn style() -> String {
    Theme::variables() + include_str!("browser/page.css") + include_str!("browser/print.css")
}

/// The script of all our pages. It adds nothing but what is done with pictures
/// and tables that stand in the page without it.
pub fn script() -> &'static str {
    concat!(
        "(() => {\n\"use strict\";\n",
        include_str!("browser/shared.js"),
        include_str!("browser/picture.js"),
        include_str!("browser/strip.js"),
        include_str!("browser/address.js"),
        include_str!("browser/table.js"),
        include_str!("browser/sort.js"),
        include_str!("browser/copy.js"),
        include_str!("browser/rates.js"),
        "})();\n"
    )
}

/// What describes the pictures of a page to readers of screens, once a page.
pub fn keys() -> Markup {
    html! {
        p.hidden #keys {
            "Arrow keys step through the figures, plus and minus zoom, Shift and arrow keys pan, Escape zooms out."
        }
    }
}

/// End tags that HTML lets be left out where these elements stand in our pages:
/// a tenth of a page with its tables.
const UNNEEDED: [&str; 5] = ["</td>", "</th>", "</tr>", "</dt>", "</dd>"];

/// A whole page as text. A document may come from anywhere: no control character
/// and no change of direction gets through.
pub fn finished(page: Markup) -> String {
    let page = page.into_string();
    let short = UNNEEDED.iter().fold(page, |page, tag| page.replace(tag, ""));
    finish(&short, false)
}

/// Where blocks stand.
#[derive(Clone, Copy)]
pub struct PageContext<'p> {
    /// Level of their headings: 2 below the page's own, 3 below a chapter's.
    pub heading: u8,
    /// What a link leads to on this page; no link where there is nothing.
    pub href: &'p dyn Fn(&Link) -> Option<String>,
}

impl PageContext<'_> {
    /// In a chapter of a page that stands alone.
    pub const CHAPTER: PageContext<'static> = PageContext { heading: 3, href: &|_| None };
}

/// Paints blocks one below the other. Pictures that follow each other stand
/// side by side where there is room.
pub fn paint(blocks: &[Block], place: PageContext) -> Markup {
    let mut heading = "";
    html! {
        @for blocks in blocks.chunk_by(|a, b| kind(a) == kind(b)) {
            @match kind(&blocks[0]) {
                BlockKind::Facts => dl.facts {
                    @for note in notes(blocks) {
                        dt { (label(note)) } dd class=[class(note.tone)] { (code_spans(&note.text)) }
                    }
                },
                BlockKind::List => ul.list {
                    @for note in notes(blocks) { li class=[class(note.tone)] { (code_spans(&note.text)) } }
                },
                BlockKind::Text => @for note in notes(blocks) {
                    @if !note.text.is_empty() { p class=[class(note.tone)] { (code_spans(&note.text)) } }
                },
                BlockKind::Picture => div.figures {
                    @for block in blocks { @if let Block::Chart(chart) = block { (chart_figure(chart)) } }
                },
                BlockKind::Own => @for block in blocks {
                    @match block {
                        Block::Heading(text) => {
                            ({ heading = text.as_str(); titled(text, place) })
                        }
                        Block::Table(one) => (table::scrolled(heading, std::slice::from_ref(one), place)),
                        Block::Tables(several) => (table::scrolled(heading, several, place)),
                        Block::Lines(lines) => pre { (unmarked(&lines.join("\n"))) },
                        Block::Rates(rate) => (rates::paint_rates(rate)),
                        Block::Note(_) | Block::Chart(_) => {}
                    }
                },
            }
        }
    }
}

/// Blocks of a kind that follow each other are painted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Facts,
    List,
    Text,
    Picture,
    Own,
}

fn kind(block: &Block) -> BlockKind {
    match block {
        Block::Note(note) if label(note).is_empty() => BlockKind::Text,
        Block::Note(note) if label(note) == "-" => BlockKind::List,
        Block::Note(_) => BlockKind::Facts,
        Block::Chart(_) => BlockKind::Picture,
        Block::Heading(_)
        | Block::Table(_)
        | Block::Tables(_)
        | Block::Lines(_)
        | Block::Rates(_) => BlockKind::Own,
    }
}

fn notes(blocks: &[Block]) -> impl Iterator<Item = &Note> {
    blocks.iter().filter_map(|block| match block {
        Block::Note(note) => Some(note),
        _ => None,
    })
}

/// A note's label without what aligns it on a terminal.
fn label(note: &Note) -> &str {
    note.label.trim().trim_end_matches(':')
}

/// A text whose parts between two backticks are commands and names to be typed.
pub(crate) fn code_spans(text: &str) -> Markup {
    let text = unmarked(text);
    let parts: Vec<&str> = text.split('`').collect();
    // The last backtick of an odd number has no other.
    let paired = parts.len() - (parts.len() + 1) % 2;
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at >= paired { "`" (part) } @else if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn titled(text: &str, place: PageContext) -> Markup {
    match place.heading {
        2 => html! { h2 { (text) } },
        _ => html! { h3 { (text) } },
    }
}

/// The class of a text that is coloured.
pub(crate) fn class(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Doubtful => Some("doubtful"),
        Tone::Bad => Some("bad"),
        Tone::Dim => Some("dim"),
    }
}

/// The class of a verdict's word: inconclusive is not invalid.
pub(crate) fn verdict_class(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::CannotTell => Some("unsure"),
        other => class(other.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::stats::Interval;
    use model::story::{Cell, Table, left, right};

    #[test]
    fn every_kind_of_block() {
        let mut table = Table::new([left("row"), right("time"), left("")]);
        let noisy = Cell::time(Some(Interval::about(150e3, 2e3))).marked(Verdict::Noisy);
        let row = Link::Row { id: "cpu.div".into(), at: vec![64] };
        table.row([Cell::from("div <64>").to(row.clone()), noisy, Cell::bar(0.25, 0.75, 20)]);
        table.note("  └ ", "why so");
        table.row([Cell::from("nothing").to(Link::Run("7".into()))]);
        let mut untitled = Table::new([left(""), right("")]);
        untitled.row(["a".into(), "1".into()]);
        let blocks = [
            Block::Heading("cpu.div: what it costs".into()),
            Block::Table(table.clone()),
            Block::note("Indented on a terminal."),
            Block::empty_line(),
            Block::fact("machine", "one"),
            Block::fact("clock", "two"),
            Block::warning("", "mind this; `latlas list` and ` alone"),
            Block::labelled("  - ", "first"),
            Block::labelled("  - ", "second"),
            Block::Tables(vec![table, untitled]),
            Block::Lines(vec!["latlas <x>".into(), "  y".into()]),
        ];
        let href = |link: &Link| match link {
            Link::Row { id, at } => Some(format!("/row?row={id}&at={}", at[0])),
            _ => None,
        };
        let place = PageContext { heading: 2, href: &href };
        let markup = paint(&blocks, place).into_string();
        insta::assert_snapshot!(markup.replace("><", ">\n<"));
    }
}
