//! Columns, wrapping and colour of plain text. Widths are those of the
//! terminal, not of the encoding.

use crate::shade::{Shade, all_shades};
use model::printable::is_hidden;
pub(crate) use model::story::Tone as Style;
use model::story::Tone;
use unicode_width::UnicodeWidthStr;

/// A character of the private use area stands for a colour until [`finish`],
/// so that no width is computed over an escape sequence and no escape sequence
/// of a stranger's file gets through.
fn marker(tone: Tone) -> Option<char> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some('\u{e001}'),
        Tone::Doubtful => Some('\u{e002}'),
        Tone::Bad => Some('\u{e003}'),
        Tone::Dim => Some('\u{e004}'),
    }
}

pub(super) const END: char = '\u{e000}';
/// That of the first of [`all_shades`]; the others follow.
const FIRST_SHADE: u32 = 0xe010;
/// All of these characters.
const MARKERS: std::ops::RangeInclusive<char> = '\u{e000}'..='\u{e01f}';

/// Marks a text for a shade of what threads do.
pub(crate) fn shaded(text: &str, shade: Shade) -> String {
    let at = all_shades().zip(FIRST_SHADE..).find(|(one, _)| *one == shade);
    match at.and_then(|(_, marker)| char::from_u32(marker)).filter(|_| !text.is_empty()) {
        Some(marker) => format!("{marker}{text}{END}"),
        None => text.to_owned(),
    }
}

/// A text without marks for colours.
pub(crate) fn unmarked(text: &str) -> String {
    text.chars().filter(|c| !MARKERS.contains(c)).collect()
}
/// A space at which no line ends.
pub const NO_BREAK: char = '\u{a0}';

/// Marks a text for its colour.
pub(crate) fn styled(text: &str, tone: Tone) -> String {
    match marker(tone).filter(|_| !text.is_empty()) {
        Some(marker) => format!("{marker}{text}{END}"),
        None => text.to_owned(),
    }
}

/// Turns the marks into colours or drops them, and makes every other control
/// character visible: a document may come from anywhere.
pub(crate) fn finish(text: &str, color: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let shade = u32::from(c).checked_sub(FIRST_SHADE);
        if let Some(shade) = shade.and_then(|at| all_shades().nth(at as usize)) {
            if color {
                out.push_str(&format!("\x1b[38;5;{}m", shade.terminal));
            }
            continue;
        }
        let escape = match c {
            END => "\x1b[0m",
            '\u{e001}' => "\x1b[32m",
            '\u{e002}' => "\x1b[33m",
            '\u{e003}' => "\x1b[31m",
            '\u{e004}' => "\x1b[2m",
            '\n' => "\n",
            NO_BREAK => " ",
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

/// Columns that a text takes on a terminal; marks for colours take none.
pub(crate) fn width(text: &str) -> usize {
    let marks = text.matches(|c| MARKERS.contains(&c));
    text.width() - marks.map(|mark| mark.width()).sum::<usize>()
}

/// Whether every line of a text keeps to so many columns, once its colours are
/// drawn.
#[cfg(test)]
pub(crate) fn keeps_to(text: &str, columns: usize) -> bool {
    let drawn = finish(text, false);
    drawn.lines().all(|line| width(line) <= columns)
}

/// Breaks a text between words so that no line is wider than `columns`: the
/// first stands after `lead`, the others under its end. A word that is wider
/// than the line is broken too.
pub fn wrap(lead: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = width(lead);
    let room = columns.saturating_sub(indent).max(8);
    let mut lines = vec![String::new()];
    // Kept, since a line may be as long as the text.
    let mut last = 0;
    let words = text.split(|c: char| c.is_whitespace() && c != NO_BREAK);
    for word in words.filter(|word| !word.is_empty()) {
        for piece in pieces(word, room) {
            let (gap, wide) = (usize::from(last > 0), width(&piece));
            match lines.last_mut() {
                Some(line) if last + gap + wide <= room => {
                    if gap > 0 {
                        line.push(' ');
                    }
                    line.push_str(&piece);
                    last += gap + wide;
                }
                _ => {
                    lines.push(piece);
                    last = wide;
                }
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

/// A word in pieces that have room; a path or an address stays whole, to be
/// copied.
fn pieces(word: &str, room: usize) -> Vec<String> {
    if width(word) <= room || word.starts_with('/') || word.contains("://") {
        return vec![word.to_owned()];
    }
    let mut pieces = vec![String::new()];
    let mut last = 0;
    for c in word.chars() {
        // No narrower than in a text: several characters may be drawn as one.
        let wide = width(c.encode_utf8(&mut [0; 4]));
        match pieces.last_mut() {
            Some(piece) if last + wide <= room => {
                piece.push(c);
                last += wide;
            }
            _ => {
                pieces.push(c.to_string());
                last = wide;
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_and_never_cut() {
        let lines = wrap("  ^ ", "one two three four", 14);
        assert_eq!(lines, ["  ^ one two", "    three four"]);
        let lines = wrap("", "0123456789ab", 10);
        assert_eq!(lines, ["0123456789", "ab"]);
        assert_eq!(wrap("x ", "", 10), ["x "]);
        let path = wrap("at ", "by /home/me/runs/1.json", 10);
        assert_eq!(path, ["at by", "   /home/me/runs/1.json"]);
    }

    #[test]
    fn colour_is_only_where_it_is_wanted() {
        let text = styled("ok", Style::Good);
        assert_eq!(finish(&text, true), "\x1b[32mok\x1b[0m");
        assert_eq!(finish(&text, false), "ok");
    }

    #[test]
    fn a_shade_has_its_colour_and_no_width() {
        for shade in all_shades() {
            let text = shaded("██", shade);
            assert_eq!(finish(&text, true), format!("\x1b[38;5;{}m██\x1b[0m", shade.terminal));
            assert_eq!((finish(&text, false), unmarked(&text)), ("██".into(), "██".into()));
            assert_eq!(width(&text), 2, "{shade:?}");
        }
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
