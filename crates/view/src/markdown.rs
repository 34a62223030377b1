//! Blocks painted as GitHub Flavored Markdown. <https://github.github.com/gfm>

use crate::terminal::paint_plain;
use model::story::{Block, Cell, Note, Row, Table, Tone};
use model::text::visible;

/// Columns of drawings.
const COLUMNS: usize = 100;

/// Blocks as Markdown. No text of them is markup, nor a mention.
pub fn text(blocks: &[Block]) -> String {
    let mut parts = Vec::new();
    for block in blocks {
        match block {
            Block::Heading(text) => parts.push(format!("### {}\n", escaped(text))),
            Block::Note(Note { label, text, .. }) if label.is_empty() && text.is_empty() => {}
            Block::Note(text) => parts.push(note(text)),
            Block::Table(own) => parts.push(table(own)),
            Block::Tables(own) => parts.extend(own.iter().map(table)),
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

fn note(note: &Note) -> String {
    let text = escaped(&format!("{}{}", note.label, note.text).trim().replace('\n', " "));
    match note.tone {
        Tone::Bad => format!("**{text}**\n"),
        _ => format!("{text}\n"),
    }
}

fn table(table: &Table) -> String {
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
            Row::Cells(cells) => text += &line(cells.iter().map(cell).collect()),
            Row::Note(below) => notes += &format!("\n{}", note(below)),
        }
    }
    text + &notes
}

fn cell(cell: &Cell) -> String {
    let text = escaped(&cell.text());
    match cell.tone {
        Tone::Bad => format!("**{text}**"),
        _ => text,
    }
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
        own.row([Cell::from("*c*\n_d_"), Cell::from("SLOWER").toned(Tone::Bad)]);
        own.note("note: ", "below");
        let blocks = [
            Block::Heading("two_builds".into()),
            Block::Table(own),
            Block::empty_line(),
            Block::warning("INTERRUPTED: ", "by a signal"),
            Block::Lines(vec!["```".into(), "| as it is".into()]),
        ];
        assert_eq!(
            text(&blocks),
            "### two\\_builds\n\n\
             | command | change |\n\
             | :--- | ---: |\n\
             | a\\|b &lt;i> @<!-- -->team \\`x\\` \\#1 | +5.0 % |\n\
             | \\*c\\* \\_d\\_ | **SLOWER** |\n\
             \nnote: below\n\n\
             **INTERRUPTED: by a signal**\n\n\
             ````text\n```\n| as it is\n````\n"
        );
    }
}
