//! Blocks painted as GitHub Flavored Markdown. <https://github.github.com/gfm>

use crate::terminal::layout::unmarked;
use crate::terminal::paint_plain;
use model::printable::visible;
use model::story::{Block, Cell, Note, Row, Table, Tone};

/// Columns of drawings.
const COLUMNS: usize = 100;

/// Blocks as Markdown. No text of them is markup, nor a mention.
pub fn to_markdown(blocks: &[Block]) -> String {
    let mut parts = Vec::new();
    for block in blocks {
        match block {
            Block::Heading(text) => parts.push(format!("### {}\n", with_code(text))),
            Block::Note(Note { label, text, .. }) if label.is_empty() && text.is_empty() => {}
            Block::Note(text) => parts.push(note_markdown(text)),
            Block::Table(own) => parts.push(table_markdown(own)),
            Block::Rates(own) => parts.push(table_markdown(&own.table())),
            Block::Tables(own) => parts.extend(own.iter().map(table_markdown)),
            Block::Lines(_) | Block::Chart(_) => {
                let drawn = paint_plain(std::slice::from_ref(block), COLUMNS);
                // Longer than any fence within.
                let fence = "`".repeat(longest_run(&drawn, '`').max(2) + 1);
                parts.push(format!("{fence}text\n{drawn}{fence}\n"));
            }
        }
    }
    parts.join("\n")
}

fn note_markdown(note: &Note) -> String {
    let text = unmarked(&format!("{}{}", note.label, note.text));
    let text = with_code(&text.trim().replace('\n', " "));
    match note.tone {
        Tone::Bad => format!("**{text}**\n"),
        _ => format!("{text}\n"),
    }
}

fn table_markdown(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(table.columns.iter().map(|c| escaped(&c.title)).collect());
    let rules = table.columns.iter().map(|column| match column.right {
        true => "---:".into(),
        false => ":---".into(),
    });
    text += &line(rules.collect());
    let mut notes = String::new();
    for row in &table.rows {
        match row {
            Row::Cells(cells) => {
                let is_code = |k: usize| table.columns.get(k).is_some_and(|column| column.code);
                let cells = cells.iter().enumerate();
                text += &line(cells.map(|(k, cell)| cell_text(cell, is_code(k))).collect());
            }
            Row::Note(below) => notes += &format!("\n{}", note_markdown(below)),
        }
    }
    text + &notes
}

fn cell_text(cell: &Cell, is_code: bool) -> String {
    let text = match is_code {
        // Also within code a bar would end the cell.
        true => code(&cell.text()).replace('|', "\\|"),
        false => escaped(&cell.text()),
    };
    match cell.tone {
        Tone::Bad => format!("**{text}**"),
        _ => text,
    }
}

/// A text whose parts between two ticks are code.
fn with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let paired = parts.len() - (parts.len() + 1) % 2;
    let paint = |(k, part): (usize, &&str)| match k % 2 == 1 && k < paired {
        true => code(part),
        false => escaped(part),
    };
    let painted: Vec<String> = parts.iter().enumerate().map(paint).collect();
    match paired == parts.len() {
        true => painted.concat(),
        // The last tick has no other.
        false => painted[..paired].concat() + "\\`" + &painted[paired..].concat(),
    }
}

/// A text as code, whatever ticks are in it.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let text = visible(text);
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in visible(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            // A comment: nobody is notified.
            '@' => escaped.push_str("@<!-- -->"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '{' | '}' => {
                escaped.extend(['\\', c])
            }
            c => escaped.push(c),
        }
    }
    escaped
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::story::{left, right};

    #[test]
    fn blocks_become_markdown_whose_texts_are_no_markup() {
        let mut own = Table::new([left("command"), right("change")]);
        own.row(["a|b <i> @team `x` #1".into(), "+5.0 %".into()]);
        let mut typed = Table::new([left("typed").of_code()]);
        typed.row(["a|b `x`".into()]);
        own.row([Cell::from("*c*\n_d_"), Cell::from("SLOWER").toned(Tone::Bad)]);
        own.note("note: ", "below");
        let blocks = [
            Block::Heading("two_builds".into()),
            Block::Table(own),
            Block::empty_line(),
            Block::Table(typed),
            Block::warning("INTERRUPTED: ", "by `SIGINT` *or* ` one"),
            Block::Lines(vec!["```".into(), "| as it is".into()]),
        ];
        assert_eq!(
            to_markdown(&blocks),
            "### two\\_builds\n\n\
             | command | change |\n\
             | :--- | ---: |\n\
             | a\\|b &lt;i> @<!-- -->team \\`x\\` \\#1 | +5.0 % |\n\
             | \\*c\\* \\_d\\_ | **SLOWER** |\n\
             \nnote: below\n\n\
             | typed |\n\
             | :--- |\n\
             | `` a\\|b `x` `` |\n\n\
             **INTERRUPTED: by `SIGINT` \\*or\\* \\` one**\n\n\
             ````text\n```\n| as it is\n````\n"
        );
    }
}
