//! Lays out the text below the options of a help: prose is filled, examples and exit codes are two columns, as wide
//! as the terminal is.

use clap::Command;
use clap::builder::StyledStr;
use view::terminal::wrap;

/// No help is wider.
pub(super) const WIDEST: usize = 100;

/// The command line with every help as wide as `columns`, or less.
pub(crate) fn laid_out(command: Command, columns: usize) -> Command {
    let width = columns.min(WIDEST);
    let of = |text: Option<&StyledStr>| text.map(|text| text_laid_out(&text.to_string(), width));
    let (short, long) = (of(command.get_after_help()), of(command.get_after_long_help()));
    let mut command = command.term_width(width).mut_subcommands(|own| laid_out(own, width));
    if let Some(text) = short {
        command = command.after_help(text);
    }
    match long {
        Some(text) => command.after_long_help(text),
        None => command,
    }
}

/// A piece of a paragraph.
enum Piece {
    /// Prose, or a heading.
    Prose(String),
    /// A line of a list: a command or a code, and what it is.
    Item(String, String),
}

/// Paragraphs are apart by an empty line. A line that begins with two spaces is of a list; what it begins with and
/// what that is are apart by two spaces, or by a new line that is indented further.
pub(super) fn text_laid_out(text: &str, width: usize) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let pieces = pieces(paragraph);
        let lefts = pieces.iter().filter_map(|piece| match piece {
            Piece::Item(left, right) if !right.is_empty() => Some(left.chars().count()),
            _ => None,
        });
        // A long command has a line of its own.
        let most = width / 2 - 2;
        let column = lefts.filter(|&wide| wide <= most).max().unwrap_or(most.min(24));
        let lines: Vec<String> =
            pieces.iter().flat_map(|piece| lines(piece, column, width)).collect();
        lines.join("\n")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn pieces(paragraph: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for line in paragraph.lines() {
        let words = line.trim();
        match (line.len() - line.trim_start().len(), pieces.last_mut()) {
            (0, Some(Piece::Prose(text))) if !text.ends_with(':') => {
                text.push(' ');
                text.push_str(words);
            }
            (0, _) => pieces.push(Piece::Prose(words.to_owned())),
            (3.., Some(Piece::Item(_, right))) => {
                right.push_str(if right.is_empty() { "" } else { " " });
                right.push_str(words);
            }
            _ => {
                let (left, right) = words.split_once("  ").unwrap_or((words, ""));
                pieces.push(Piece::Item(left.to_owned(), right.trim().to_owned()));
            }
        }
    }
    pieces
}

fn lines(piece: &Piece, column: usize, width: usize) -> Vec<String> {
    match piece {
        Piece::Prose(text) => wrap("", text, width),
        Piece::Item(left, right) if right.is_empty() => vec![format!("  {left}")],
        Piece::Item(left, right) if left.chars().count() <= column => {
            wrap(&format!("  {left:column$}  "), right, width)
        }
        Piece::Item(left, right) => {
            let below = wrap(&" ".repeat(column + 4), right, width);
            [vec![format!("  {left}")], below].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{command, helpful};

    const TEXT: &str = "\
Runs the command until it is known. At least
ten times.

Examples:
  latlas a        Do it
  latlas b --very-long-option=value -- command
                  Do it in another way, which takes some words more
  latlas c

Exit codes:
  0  done
  3  done, but the result
     is unreliable";

    #[test]
    fn prose_is_filled_and_lists_are_columns() {
        insta::assert_snapshot!(format!(
            "{}\n\n{}",
            text_laid_out(TEXT, 80),
            text_laid_out(TEXT, 40)
        ));
    }

    #[test]
    fn what_is_laid_out_can_be_laid_out_again() {
        for (first, second) in [(100, 60), (80, 80), (60, 100)] {
            let again = text_laid_out(&text_laid_out(TEXT, first), second);
            assert_eq!(again, text_laid_out(TEXT, second));
        }
    }

    fn helps(command: &mut Command, path: &str, all: &mut Vec<(String, String)>) {
        all.push((path.to_owned(), command.render_help().to_string()));
        all.push((format!("{path} --help"), command.render_long_help().to_string()));
        for own in command.get_subcommands_mut() {
            let path = format!("{path} {}", own.get_name());
            helps(own, &path, all);
        }
    }

    fn all_helps(columns: usize) -> Vec<(String, String)> {
        let mut command = helpful(command(), columns);
        command.build();
        let mut all = Vec::new();
        helps(&mut command, "latlas", &mut all);
        all
    }

    #[test]
    fn helps_keep_to_the_terminal() {
        for columns in [60, 80] {
            let mut chosen = String::new();
            for (name, help) in all_helps(columns) {
                // A command to copy stays in one piece.
                let is_command = |line: &str| {
                    (line.starts_with("  ") || line.starts_with("Usage: "))
                        && line.contains("latlas ")
                };
                let wide = help.lines().filter(|line| line.chars().count() > columns);
                let wide: Vec<&str> = wide.filter(|line| !is_command(line)).collect();
                assert!(wide.is_empty(), "{name} at {columns}: {wide:#?}");
                if ["latlas", "latlas qos", "latlas trace", "latlas noise tune", "latlas exec"]
                    .contains(&&*name)
                {
                    chosen += &format!("{name} -h\n{help}\n");
                }
            }
            insta::assert_snapshot!(format!("helps_at_{columns}"), chosen);
        }
    }

    #[test]
    fn the_first_help_is_one_screen() {
        for columns in [80, 100, 200] {
            let lines = helpful(command(), columns).render_help().to_string().lines().count();
            assert!(lines <= 24, "{lines} lines at {columns} columns");
        }
    }
}
