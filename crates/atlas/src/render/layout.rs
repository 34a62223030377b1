//! Columns, wrapping and colour of plain text. Widths are those of the
//! terminal, not of the encoding.

use crate::text::is_hidden;
use model::estimate::Verdict;
use unicode_width::UnicodeWidthStr;

/// What a piece of text is coloured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Good,
    Doubtful,
    Bad,
    Dim,
}

impl Style {
    /// Colour of a verdict.
    pub(super) fn of(verdict: Verdict) -> Style {
        match verdict {
            Verdict::Ok => Style::Good,
            Verdict::Noisy | Verdict::TwoStates => Style::Doubtful,
            Verdict::CannotTell | Verdict::Invalid => Style::Bad,
        }
    }

    /// A character of the private use area stands for the colour until
    /// [`finish`], so that no width is computed over an escape sequence and
    /// no escape sequence of a stranger's file gets through.
    fn marker(self) -> char {
        match self {
            Style::Good => '\u{e001}',
            Style::Doubtful => '\u{e002}',
            Style::Bad => '\u{e003}',
            Style::Dim => '\u{e004}',
        }
    }
}

const END: char = '\u{e000}';

/// Marks a text for its colour. Its width must have been taken before.
pub(super) fn styled(text: &str, style: Style) -> String {
    format!("{}{text}{END}", style.marker())
}

/// Turns the marks into colours or drops them, and makes every other control
/// character visible: a document may come from anywhere.
pub(crate) fn finish(text: &str, color: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let escape = match c {
            END => "\x1b[0m",
            '\u{e001}' => "\x1b[32m",
            '\u{e002}' => "\x1b[33m",
            '\u{e003}' => "\x1b[31m",
            '\u{e004}' => "\x1b[2m",
            '\n' => "\n",
            c if is_hidden(c) => "\u{fffd}",
            c => {
                out.push(c);
                continue;
            }
        };
        if color || !escape.starts_with('\x1b') {
            out.push_str(escape);
        }
    }
    out
}

/// Columns that a text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Whether every line of a text keeps to so many columns, once its colours are
/// drawn.
pub(crate) fn keeps_to(text: &str, columns: usize) -> bool {
    let drawn = finish(text, false);
    drawn.lines().all(|line| width(line) <= columns)
}

/// One entry of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    text: String,
    right: bool,
    style: Option<Style>,
}

/// An entry that stands at the left of its column.
pub(super) fn left(text: impl Into<String>) -> Entry {
    Entry {
        text: text.into(),
        right: false,
        style: None,
    }
}

/// An entry that stands at the right of its column.
pub(super) fn right(text: impl Into<String>) -> Entry {
    Entry {
        right: true,
        ..left(text)
    }
}

impl Entry {
    /// The same entry, coloured.
    pub(super) fn in_style(self, style: Style) -> Entry {
        Entry {
            style: Some(style),
            ..self
        }
    }
}

/// A table whose columns are as wide as they need to be, with lines of free
/// text between.
#[derive(Debug, Default)]
pub(super) struct Grid {
    lines: Vec<Line>,
}

#[derive(Debug)]
enum Line {
    Entries(Vec<Entry>),
    Free(String),
}

impl Grid {
    /// A line of entries.
    pub(super) fn entries(&mut self, entries: Vec<Entry>) {
        self.lines.push(Line::Entries(entries));
    }

    /// A line that is not divided into columns.
    pub(super) fn free(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Free(text.into()));
    }

    /// Lines of free text, wrapped, the first after `lead` and the others
    /// under it.
    pub(super) fn wrapped(&mut self, lead: &str, text: &str, columns: usize) {
        for line in wrap(lead, text, columns) {
            self.free(line);
        }
    }

    /// The table as text; `gap` blanks between columns.
    pub(super) fn render(&self, gap: usize) -> String {
        let mut widths = Vec::new();
        self.widen(&mut widths);
        self.with_widths(&widths, gap)
    }

    /// Makes columns as wide as this table needs them.
    fn widen(&self, widths: &mut Vec<usize>) {
        for line in &self.lines {
            if let Line::Entries(entries) = line {
                widths.resize(widths.len().max(entries.len()), 0);
                for (at, entry) in entries.iter().enumerate() {
                    widths[at] = widths[at].max(width(&entry.text));
                }
            }
        }
    }

    fn with_widths(&self, widths: &[usize], gap: usize) -> String {
        let mut out = String::new();
        for line in &self.lines {
            match line {
                Line::Free(text) => out.push_str(text.trim_end()),
                Line::Entries(entries) => out.push_str(&row(entries, widths, gap)),
            }
            out.push('\n');
        }
        out
    }
}

/// Tables one below the other with a blank line between. Columns line up
/// through all that keep to `columns` so; a table that would push the others
/// over the page's edge stands on its own.
pub(super) fn stacked(grids: &[Grid], gap: usize, columns: usize) -> String {
    let fits = |widths: &[usize]| {
        let used = widths.iter().filter(|&&width| width > 0).count();
        widths.iter().sum::<usize>() + gap * used.saturating_sub(1) <= columns
    };
    let mut common = Vec::new();
    let joined: Vec<bool> = grids
        .iter()
        .map(|grid| {
            let mut widths = common.clone();
            grid.widen(&mut widths);
            let joins = fits(&widths);
            if joins {
                common = widths;
            }
            joins
        })
        .collect();
    let texts: Vec<String> = grids
        .iter()
        .zip(joined)
        .map(|(grid, joins)| match joins {
            true => grid.with_widths(&common, gap),
            false => grid.render(gap),
        })
        .collect();
    texts.join("\n")
}

fn row(entries: &[Entry], widths: &[usize], gap: usize) -> String {
    let mut line = String::new();
    // A column that nobody uses takes no gap either.
    for (entry, &column) in entries.iter().zip(widths).filter(|&(_, &w)| w > 0) {
        if !line.is_empty() {
            line.push_str(&" ".repeat(gap));
        }
        let text = entry.text.replace('\n', " ");
        let fill = " ".repeat(column.saturating_sub(width(&text)));
        let text = entry
            .style
            .map_or(text.clone(), |style| styled(&text, style));
        if entry.right {
            line.push_str(&fill);
            line.push_str(&text);
        } else {
            line.push_str(&text);
            line.push_str(&fill);
        }
    }
    line.trim_end().to_owned()
}

/// Breaks a text between words so that no line is wider than `columns`: the
/// first stands after `lead`, the others under its end. A word that is wider
/// than the line is broken too.
pub(super) fn wrap(lead: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = width(lead);
    let room = columns.saturating_sub(indent).max(8);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        for piece in pieces(word, room) {
            let last = lines.last().map_or(0, |line| width(line));
            let gap = usize::from(last > 0);
            match lines.last_mut() {
                Some(line) if last + gap + width(&piece) <= room => {
                    if gap > 0 {
                        line.push(' ');
                    }
                    line.push_str(&piece);
                }
                _ => lines.push(piece),
            }
        }
    }
    lines
        .into_iter()
        .enumerate()
        .map(|(at, line)| match at {
            0 => format!("{lead}{line}"),
            _ => format!("{}{line}", " ".repeat(indent)),
        })
        .collect()
}

fn pieces(word: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word.chars() {
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
            if width(piece) > room {
                piece.pop();
                pieces.push(c.to_string());
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_width_on_the_terminal() {
        let mut grid = Grid::default();
        grid.entries(vec![left("µs±"), right("1"), left("x")]);
        grid.free("between");
        grid.entries(vec![left("a"), right("100"), left("")]);
        assert_eq!(grid.render(2), "µs±    1  x\nbetween\na    100\n");
    }

    #[test]
    fn stacked_tables_line_up_where_that_fits() {
        let grid = |name: &str, figure: &str| {
            let mut grid = Grid::default();
            grid.entries(vec![left(name), right(figure)]);
            grid
        };
        let grids = [
            grid("a long name", "1"),
            grid("b", "a long figure"),
            grid("c", "12"),
        ];
        assert_eq!(
            stacked(&grids, 1, 25),
            "a long name             1\n\nb           a long figure\n\nc                      12\n"
        );
        assert_eq!(
            stacked(&grids, 1, 24),
            "a long name  1\n\nb a long figure\n\nc           12\n",
            "the others still line up"
        );
    }

    #[test]
    fn long_text_is_wrapped_and_never_cut() {
        let lines = wrap("  ^ ", "one two three four", 14);
        assert_eq!(lines, ["  ^ one two", "    three four"]);
        let lines = wrap("", "0123456789ab", 10);
        assert_eq!(lines, ["0123456789", "ab"]);
        assert_eq!(wrap("x ", "", 10), ["x "]);
    }

    #[test]
    fn colour_is_only_where_it_is_wanted() {
        let text = styled("ok", Style::Good);
        assert_eq!(finish(&text, true), "\x1b[32mok\x1b[0m");
        assert_eq!(finish(&text, false), "ok");
    }

    #[test]
    fn colours_take_no_columns() {
        let text = format!("1234 {}\n", styled("noisy", Style::Doubtful));
        assert!(keeps_to(&text, 10));
        assert!(!keeps_to(&text, 9));
    }

    #[test]
    fn a_strangers_escape_sequence_does_not_get_through() {
        let evil = "a\x1b[2Jb\u{202e}c\rd";
        assert_eq!(finish(evil, true), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d");
    }
}
