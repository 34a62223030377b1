//! Tables of a story on a page.

use super::sort_key::sort_key;
use super::strip::{axis, strip};
use super::{PageContext, class, code_spans, verdict_class};
use maud::{Markup, html};
use model::estimate::Verdict;
use model::story::{Cell, Column, Link, Row, Table, Value};

/// Tables below each other, in a region that scrolls by itself on a narrow
/// screen, by keyboard too. Those of as many columns line up.
pub(super) fn scrolled(label: &str, tables: &[Table], place: PageContext) -> Markup {
    // Regions of a page need different names: below no heading, that of the first column.
    let firsts = tables.iter().flat_map(|table| table.columns.first());
    let mut labels = [label].into_iter().chain(firsts.map(|column| column.title.trim()));
    let label = labels.find(|label| !label.is_empty()).unwrap_or("Figures");
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            @for alike in tables.chunk_by(|a, b| a.columns.len() == b.columns.len()) {
                @if let [first, rest @ ..] = alike {
                    @let folded = first.folded.filter(|&most| first.rows.len() > most);
                    @let place = Place { place, sorted: is_sorted(alike) };
                    @let (near, far) = match folded { Some(most) if place.sorted && rest.is_empty() => parted(&first.rows, most), _ => (&first.rows[..], &[][..]) };
                    table.plain.sorted[place.sorted] data-folded=[folded] data-far=[(!far.is_empty()).then(|| lines_of(far))] {
                        @if has_titles(first) { thead { (titles(first)) } }
                        (rows_markup(first, near, html! {}, place))
                        @for one in rest { (rows_markup(one, &one.rows, titles(one), place)) }
                    }
                    // To a browser with scripts a text, which costs nothing until it is asked for.
                    @if !far.is_empty() {
                        noscript { table.plain { thead { (titles(first)) } (rows_markup(first, far, html! {}, place)) } }
                    }
                }
            }
        }
    }
}

/// One table. Its first column names the rows.
pub(super) fn plain(table: &Table, place: PageContext) -> Markup {
    html! {
        table.plain {
            @if has_titles(table) { thead { (titles(table)) } }
            (rows_markup(table, &table.rows, html! {}, Place { place, sorted: false }))
        }
    }
}

/// Where a cell stands.
#[derive(Clone, Copy)]
struct Place<'p> {
    place: PageContext<'p>,
    /// In a table that the script sorts and filters.
    sorted: bool,
}

/// Rows beyond which those that are folded are no elements of the page until they are asked for:
/// ten thousand take a browser ten seconds.
const FAR: usize = 500;

/// Rows of which the first few are shown at first, and those that can wait: notes stay with theirs.
fn parted(rows: &[Row], most: usize) -> (&[Row], &[Row]) {
    if lines_of(rows) <= FAR {
        return (rows, &[]);
    }
    let mut lines = rows.iter().enumerate().filter(|(_, row)| matches!(row, Row::Cells(_)));
    rows.split_at(lines.nth(most).map_or(rows.len(), |(at, _)| at))
}

/// Rows without the notes below them.
fn lines_of(rows: &[Row]) -> usize {
    rows.iter().filter(|row| matches!(row, Row::Cells(_))).count()
}

/// Rows from which on an order matters.
const SORTED: usize = 3;

/// Whether the script sorts these tables: all have the columns of the first, with titles.
fn is_sorted(tables: &[Table]) -> bool {
    let titles = |table: &Table| -> Vec<String> {
        table.columns.iter().map(|column| column.title.clone()).collect()
    };
    tables.first().is_some_and(|first| {
        has_titles(first)
            && tables.iter().all(|one| titles(one) == titles(first))
            && tables.iter().any(|one| lines_of(&one.rows) >= SORTED)
    })
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
                    title => th class=[number_class(column.right)] scope="col" {
                        (title) @if !column.ticks.is_empty() { (axis(&column.ticks)) }
                    },
                }
            }
        }
    }
}

fn rows_markup(table: &Table, rows: &[Row], titles: Markup, place: Place) -> Markup {
    let columns = &table.columns;
    html! {
            tbody class=[number_class(columns.iter().any(|column| column.right))] { (titles) @for row in rows { tr id=[id(row, place)] {
                @match row {
                    Row::Note(note) => td.why colspan=(columns.len()) {
                        // A word that names it, not what indents it on a terminal.
                        @if note.label.trim().ends_with(':') { b { (note.label.trim()) } " " }
                        (code_spans(&note.text))
                    },
                    Row::Cells(cells) => @for (at, (value, column)) in cells.iter().zip(columns).enumerate() {
                        @let rest = columns.len() - at;
                        @let spans = (at > 0 && at + 1 == cells.len() && rest > 1).then_some(rest);
                        // A heading without a text would name nothing.
                        @if at == 0 && !is_empty(value) { th scope="row" colspan=[(cells.len() == 1 && rest > 1).then_some(rest)] { (cell_markup(value, column, place.place)) } }
                        @else {
                            @let key = place.sorted.then(|| sort_key(value, column)).flatten();
                            td class=[class_of(value, column, spans.is_some())] colspan=[spans] data-sort=[key.map(|(_, value)| shortest(value))] data-class=[key.map(|(kind, _)| kind).filter(|&kind| kind > 0)] { (cell_markup(value, column, place.place)) }
                        }
                    },
                }
            } } }
    }
}

/// What links to a row lead to.
fn id(row: &Row, place: Place) -> Option<String> {
    let Row::Cells(cells) = row else { return None };
    let target = cells.first()?.target.as_ref()?;
    // A part of a thread's time is a place in the timeline, not this row.
    if matches!(target, Link::Slice(_)) {
        return None;
    }
    let href = (place.place.href)(target)?;
    Some(href.strip_prefix('#')?.to_owned())
}

/// More digits would only make the page longer.
fn shortest(value: f64) -> String {
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
    rounded.to_string()
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
fn number_class(is: bool) -> Option<&'static str> {
    is.then_some("n")
}

fn cell_markup(cell: &Cell, column: &Column, place: PageContext) -> Markup {
    if let Value::Bar { from, to, hollow, .. } = cell.value {
        return bar(from, to, hollow);
    }
    if let Value::Strip { dots, .. } = &cell.value {
        return strip(dots, place);
    }
    let [value, half, _] = cell.parts(column.unit);
    let text = html! {
        // The name of a document may be read from the right; the figure behind it is not.
        (long_text(value.trim()))
        @if !half.is_empty() { " " span.half { (half) } }
        @if cell.verdict != Verdict::Ok { " " span.verdict { (cell.verdict.text()) } }
    };
    let tone = match cell.verdict {
        Verdict::Ok => class(cell.tone),
        verdict => verdict_class(verdict),
    };
    let text = match tone {
        Some(tone) => html! { span.(tone) { (text) } },
        None => text,
    };
    match cell.link.as_ref().and_then(place.href) {
        Some(href) => html! { a href=(href) { (text) } },
        None => text,
    }
}

/// Characters of a text, such as a stack, that are shown before it is unfolded, and from which
/// on it is folded at all.
const SHOWN: usize = 100;
const LONG: usize = 160;

fn long_text(text: &str) -> Markup {
    let count = text.chars().count();
    if count <= LONG {
        return isolated(text);
    }
    // At the end of a word, if there is one.
    let first: String = text.chars().take(SHOWN).collect();
    let first = first
        .rsplit_once(' ')
        .filter(|(most, _)| !most.is_empty())
        .map_or(&*first, |(most, _)| most);
    let left = count - first.chars().count();
    html! { details.long { summary { (isolated(first)) "… " span.half { "(" (left) " more characters)" } } (isolated(text)) } }
}

/// A name that reads from right to left changes no order of what follows it, such as its number.
fn isolated(text: &str) -> Markup {
    if !text.chars().any(is_right_to_left) {
        return html! { (text) };
    }
    match text.rsplit_once(' ') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            html! { bdi { (name) } " " (number) }
        }
        _ => html! { bdi { (text) } },
    }
}

/// Hebrew, Arabic and their neighbours (Unicode Standard Annex 9, classes R and AL, roughly).
fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// A bar in shares of its column; the figure stands next to it as text.
fn bar(from: f64, to: f64, hollow: bool) -> Markup {
    let [from, to] = [from.min(to), from.max(to)].map(|share| share.clamp(0.0, 1.0) * 100.0);
    html! {
        svg.bar-of.unsure-bar[hollow] aria-hidden="true" width="100%" height="0.8em" {
            @if to > from {
                rect x=(format!("{from:.2}%")) width=(format!("{:.2}%", to - from)) height="100%" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::story::{left, right};

    #[test]
    fn a_name_from_right_to_left_stands_before_its_number() {
        assert_eq!(isolated("worker <1> 1004").into_string(), "worker &lt;1&gt; 1004");
        assert_eq!(isolated("אבג דה 1004").into_string(), "<bdi>אבג דה</bdi> 1004");
        assert_eq!(isolated("main < אבג").into_string(), "<bdi>main &lt; אבג</bdi>");
    }

    #[test]
    fn rows_that_can_wait_are_those_of_long_tables_and_notes_stay_with_theirs() {
        let table = |rows: usize| {
            let mut table = Table::new([left("row")]);
            for at in 0..rows {
                table.row([Cell::from(at.to_string())]);
                table.note("", "why");
            }
            table
        };
        let parts = |rows: usize| {
            let table = table(rows);
            let (near, far) = parted(&table.rows, 20);
            (near.len(), far.len())
        };
        assert_eq!(parts(FAR), (2 * FAR, 0));
        assert_eq!(parts(FAR + 1), (40, 2 * (FAR + 1) - 40));
    }

    #[test]
    fn a_name_from_the_right_stays_apart_from_its_figure() {
        let mut table = Table::new([left("row"), right("time")]);
        table.row(["\u{5e9}\u{5dc}\u{5d5}\u{5dd} 1".into(), "2 ns".into()]);
        table.row(["plain".into(), "3 ns".into()]);
        let markup = plain(&table, PageContext::CHAPTER).into_string();
        assert_eq!(markup.matches("<bdi>").count(), 1);
        table.note("  \u{2514} ", "why");
        table.note("  published: ", "elsewhere");
        let notes = plain(&table, PageContext::CHAPTER).into_string();
        assert!(
            notes.contains(">why<") && notes.contains("<b>published:</b> elsewhere"),
            "{notes}"
        );
        assert!(markup.contains("<bdi>\u{5e9}\u{5dc}\u{5d5}\u{5dd}</bdi> 1"), "{markup}");
    }
}
