//! Tables of a story on a page.

use super::{Place, class};
use maud::{Markup, html};
use model::estimate::Verdict;
use model::story::{Cell, Column, Row, Table, Value};

/// Tables below each other, in a region that scrolls by itself on a narrow
/// screen, by keyboard too. Those of as many columns line up.
pub(super) fn scrolled(label: &str, tables: &[Table], place: Place) -> Markup {
    // Regions of a page need different names: below no heading, that of the first column.
    let firsts = tables.iter().flat_map(|table| table.columns.first());
    let mut labels = [label].into_iter().chain(firsts.map(|column| column.title.trim()));
    let label = labels.find(|label| !label.is_empty()).unwrap_or("Figures");
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            @for alike in tables.chunk_by(|a, b| a.columns.len() == b.columns.len()) {
                table.plain {
                    @if let [first, rest @ ..] = alike {
                        @if has_titles(first) { thead { (titles(first)) } }
                        (rows(first, html! {}, place))
                        @for one in rest { (rows(one, titles(one), place)) }
                    }
                }
            }
        }
    }
}

/// One table. Its first column names the rows.
pub(super) fn plain(table: &Table, place: Place) -> Markup {
    html! {
        table.plain {
            @if has_titles(table) { thead { (titles(table)) } }
            (rows(table, html! {}, place))
        }
    }
}

fn has_titles(table: &Table) -> bool {
    let mut columns = table.columns.iter();
    columns.any(|column| !column.title.trim().is_empty())
}

fn titles(table: &Table) -> Markup {
    html! {
        tr.titles {
            @for column in &table.columns {
                @match column.title.trim() {
                    "" => td {},
                    title => th class=[number(column.right)] scope="col" { (title) },
                }
            }
        }
    }
}

fn rows(table: &Table, titles: Markup, place: Place) -> Markup {
    let columns = &table.columns;
    html! {
            tbody class=[number(columns.iter().any(|column| column.right))] { (titles) @for row in &table.rows { tr {
                @match row {
                    Row::Note(note) => td.why colspan=(columns.len()) { (note.text) },
                    Row::Cells(cells) => @for (at, (value, column)) in cells.iter().zip(columns).enumerate() {
                        @let rest = columns.len() - at;
                        @let spans = (at > 0 && at + 1 == cells.len() && rest > 1).then_some(rest);
                        // A heading without a text would name nothing.
                        @if at == 0 && !is_empty(value) { th scope="row" colspan=[(cells.len() == 1 && rest > 1).then_some(rest)] { (cell(value, column, place)) } }
                        @else { td class=[class_of(value, column, spans.is_some())] colspan=[spans] { (cell(value, column, place)) } }
                    },
                }
            } } }
    }
}

fn is_empty(cell: &Cell) -> bool {
    matches!(&cell.value, Value::Text(text) if text.trim().is_empty())
}

/// Characters from which on a text gets some width even on a phone.
const WORDS: usize = 24;

/// The class of a cell in the body of a table. Where any column is of numbers, those
/// have none, and all others say that they are texts: once a verdict is shorter
/// than three times a figure.
fn class_of(cell: &Cell, column: &Column, spans: bool) -> Option<&'static str> {
    match &cell.value {
        _ if column.right && !spans => None,
        Value::Text(text) if text.chars().count() > WORDS => Some("words"),
        _ => Some("text"),
    }
}

/// The class of what is above numbers, or around them.
fn number(is: bool) -> Option<&'static str> {
    is.then_some("n")
}

fn cell(cell: &Cell, column: &Column, place: Place) -> Markup {
    if let Value::Bar { from, to, .. } = cell.value {
        return bar(from, to);
    }
    if let Value::Strip { dots, marked, .. } = &cell.value {
        return strip(dots, marked);
    }
    let [value, half, _] = cell.parts(column.unit);
    let text = html! {
        (value.trim())
        @if !half.is_empty() { " " span.half { (half) } }
        @if cell.verdict != Verdict::Ok { " " span.verdict { (cell.verdict.text()) } }
    };
    let text = match class(cell.tone) {
        Some(tone) => html! { span.(tone) { (text) } },
        None => text,
    };
    match cell.link.as_ref().and_then(place.href) {
        Some(href) => html! { a href=(href) { (text) } },
        None => text,
    }
}

/// A bar in shares of its column; the figure stands next to it as text.
fn bar(from: f64, to: f64) -> Markup {
    let [from, to] = [from.min(to), from.max(to)].map(|share| share.clamp(0.0, 1.0) * 100.0);
    html! {
        svg.bar-of aria-hidden="true" width="100%" height="0.8em" {
            @if to > from {
                rect x=(format!("{from:.2}%")) width=(format!("{:.2}%", to - from)) height="100%" {}
            }
        }
    }
}

/// Dots in thousandths of the column; in one place they are piled up to this height, to both sides of the middle.
const THOUSANDTHS: f64 = 1000.0;
const PILE: usize = 3;
/// Closer than this many thousandths dots are in one place.
const PLACE: f64 = 6.0;

/// A dot for each figure, all in one path: a fleet has tens of thousands of them. Those that stand out lie on
/// top, in another colour.
fn strip(dots: &[f64], marked: &[f64]) -> Markup {
    html! {
        svg.strip aria-hidden="true" width="100%" height="1.7em" viewBox="0 0 1000 20" preserveAspectRatio="none" {
            path d=(path(dots)) {}
            @if !marked.is_empty() { path.apart d=(path(marked)) {} }
        }
    }
}

/// A line of no length, which a round end makes a dot, at each place.
fn path(shares: &[f64]) -> String {
    let (mut path, mut last, mut piled) = (String::new(), (0, 0), (f64::NEG_INFINITY, 0));
    for share in shares {
        let x = (share * THOUSANDTHS).round();
        piled = if x - piled.0 < PLACE { (piled.0, piled.1 + 1) } else { (x, 0) };
        // 0, 1 up, 1 down, 2 up ..., then again.
        let step = piled.1 % (2 * PILE + 1);
        let away = step.div_ceil(2) as i64 * 3;
        let y = if step.is_multiple_of(2) { 10 - away } else { 10 + away };
        path += &format!("m{} {}h0", x as i64 - last.0, y - last.1);
        last = (x as i64, y);
    }
    path
}
