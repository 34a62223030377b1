//! A Run document of another machine, taken as it is.

use super::files::Input;
use super::text::{MAX_FILE_BYTES, json, too_large};
use super::{Fault, MAX_ROWS, UnfitValue};
use model::run::Run;
use model::text::is_hidden;
use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};
use std::collections::HashSet;
use std::io::{self, Write};

/// Longest id of a row.
const MAX_ID: usize = 256;

/// The run, if it is whole and hides nothing.
pub(super) fn run(input: &Input) -> Result<Run, Fault> {
    let Input::File { bytes, .. } = input else {
        return Err(Fault::of_file("it is a directory, and a run is a file"));
    };
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large());
    }
    if !crate::is_packed(bytes) {
        json(bytes)?;
    }
    let run = crate::from_bytes(bytes).map_err(Fault::of_file)?;
    if run.rows.len() > MAX_ROWS {
        return Err(Fault::of_file(format!("it has more than {MAX_ROWS} rows")));
    }
    let mut ids = HashSet::new();
    for row in &run.rows {
        if !is_row_id(&row.id) {
            let shown: String = row.id.chars().take(MAX_ID).collect();
            return Err(Fault::of_file(format!(
                "{shown:?} is no id of a row: parts of letters, digits and _-.+=,:%#@, between \
                 slashes"
            )));
        }
        if !ids.insert(&row.id) {
            return Err(Fault::of_file(format!("the row {:?} comes twice", row.id)));
        }
    }
    match hidden(&run)? {
        None => Ok(run),
        Some(c) => Err(Fault::of_file(UnfitValue::HiddenCharacter(c))),
    }
}

/// Whether a text can be the id of a row, as latlas and every import write it:
/// nothing that a shell, a pattern or a path would take for something else.
fn is_row_id(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.+=,:%#@/".contains(c);
    let names = |part: &str| part.chars().any(|c| c.is_ascii_alphanumeric());
    text.len() <= MAX_ID
        && !text.starts_with('-')
        && text.chars().all(fits)
        && text.split('/').all(names)
}

/// The first hidden character of any text. The document is written to nowhere
/// for that: as a tree it would be several times as large again.
fn hidden(run: &Run) -> Result<Option<char>, Fault> {
    let mut look = Look { found: None };
    run.serialize(&mut Serializer::with_formatter(io::sink(), &mut look))
        .map_err(|e| Fault::of_file(format!("it is not whole: {e}")))?;
    Ok(look.found)
}

/// Looks at every text that is written, names of fields included.
struct Look {
    found: Option<char>,
}

impl Formatter for &mut Look {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.found = self
            .found
            .or_else(|| fragment.chars().find(|&c| is_hidden(c)));
        Ok(())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        let hidden = match escape {
            CharEscape::Backspace => Some('\u{8}'),
            CharEscape::FormFeed => Some('\u{c}'),
            CharEscape::CarriageReturn => Some('\r'),
            CharEscape::AsciiControl(byte) => Some(char::from(byte)),
            CharEscape::LineFeed | CharEscape::Tab => None,
            CharEscape::Quote | CharEscape::ReverseSolidus | CharEscape::Solidus => None,
        };
        self.found = self.found.or(hidden);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::synthetic;

    #[test]
    fn a_hidden_character_is_found_wherever_it_is() {
        let run = synthetic::run();
        assert_eq!(hidden(&run), Ok(None));
        for c in [
            '\u{8}', '\u{c}', '\r', '\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}',
        ] {
            let mut evil = run.clone();
            evil.rows[0]
                .notes
                .push(format!("a \"quoted\" \\ größe\n\t{c}"));
            assert_eq!(hidden(&evil), Ok(Some(c)), "{c:?}");
            let mut evil = run.clone();
            evil.cells[0].modes.push(c.to_string());
            assert_eq!(hidden(&evil), Ok(Some(c)), "{c:?}");
        }
        let mut plain = run;
        plain.rows[0]
            .notes
            .push("a \"quoted\" \\ größe\n\t/".into());
        assert_eq!(hidden(&plain), Ok(None));
    }

    #[test]
    fn ids_of_rows_are_looked_at() {
        for run in [synthetic::run(), synthetic::run_of_commands()] {
            for row in &run.rows {
                assert!(is_row_id(&row.id), "{}", row.id);
            }
        }
        for bad in [
            "",
            "/",
            "a//b",
            "../etc",
            "a/..",
            "-rf",
            "--out",
            "a b",
            "a*",
            "a?b",
            "a\"b",
            "größe",
            "a\nb",
            "a|b",
            "a\\b",
            &"x".repeat(MAX_ID + 1),
        ] {
            assert!(!is_row_id(bad), "{bad:?}");
        }
        let mut run = synthetic::run();
        run.rows[3].id = "cpu.x; rm -rf ~".into();
        let input = Input::File {
            name: "any.json".into(),
            bytes: crate::to_json(&run).expect("document"),
        };
        let fault = self::run(&input).expect_err("refused");
        assert!(fault.reason.contains("is no id of a row"), "{fault:?}");
    }
}
