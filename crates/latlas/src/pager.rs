//! A result that is longer than the terminal goes through a pager: PAGER, or less.

use std::io::{IsTerminal, Seek, SeekFrom, Write};
use std::process::Command;

/// What less(1) does unless LESS says otherwise: it leaves a short text on the screen (F), draws colours (R), and
/// doesn't clear the screen (X).
const LESS: &str = "FRX";

/// Shows the text in a pager, where stdout is a terminal with fewer lines; whether it did.
pub(crate) fn paged(text: &str) -> bool {
    let is_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    let rows = console::Term::stdout().size_checked().map(|(rows, _)| usize::from(rows));
    let asked = std::env::var("PAGER").ok();
    match words(asked.as_deref(), is_terminal.then_some(rows).flatten(), text.lines().count()) {
        Some(words) => shown_by(&words, text).unwrap_or(false),
        None => false,
    }
}

/// The pager's words, for a text of so many lines on a terminal of so many; none where there is no need of one.
fn words(asked: Option<&str>, rows: Option<usize>, lines: usize) -> Option<Vec<String>> {
    let words = shlex::split(asked.unwrap_or("less")).filter(|words| !words.is_empty())?;
    (lines >= rows? && words != ["cat"]).then_some(words)
}

/// Whether the pager could be started. Ctrl-C is the pager's while it runs.
fn shown_by(words: &[String], text: &str) -> std::io::Result<bool> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.seek(SeekFrom::Start(0))?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(file);
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    // It may be a way to a shell of root's.
    if sys::filesystem::user() == 0 {
        command.env("LESSSECURE", "1");
    }
    let held = sys::attached::hold()?;
    // A pager that isn't there ends with 127, or does not start.
    let ended = held.run_command(&mut command, &[])?;
    Ok(ended.code() != Some(127))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_is_for_more_lines_than_the_terminal_has() {
        let of = |asked, rows, lines| words(asked, rows, lines).unwrap_or_default().join("|");
        assert_eq!(of(None, Some(24), 24), "less");
        assert_eq!(of(Some("more -s"), Some(24), 100), "more|-s");
        for (asked, rows, lines) in [
            (None, Some(24), 23),
            (None, None, 1000),
            (Some("cat"), Some(24), 100),
            (Some(""), Some(24), 100),
            (Some("'less"), Some(24), 100),
        ] {
            assert_eq!(of(asked, rows, lines), "", "{asked:?} {rows:?} {lines}");
        }
    }
}
