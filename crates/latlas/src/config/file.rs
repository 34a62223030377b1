//! Reading the file. What is wrong with it is told with its line.

use super::{Configuration, Place};
use atlas::{input, suggestion};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// No configuration is near as large.
const MAX_BYTES: u64 = 1 << 20;

/// The file as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Read {
    /// Where it was; none where there is none.
    pub(crate) path: Option<PathBuf>,
    /// Its text.
    text: String,
    /// What it says.
    pub(crate) configuration: Configuration,
}

/// Why a configuration can't be followed. One line that names the place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConfigError(String);

impl ConfigError {
    /// What is wrong and where, without what to do about it.
    pub(crate) fn what(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} (correct it, or leave it out with --no-config)",
            self.0
        )
    }
}

impl std::error::Error for ConfigError {}

impl Read {
    /// Reads the file of this place; where none has to be, an empty one.
    pub(crate) fn at(place: &Place) -> Result<Read, ConfigError> {
        let Some(path) = place.path() else {
            return Ok(Read::default());
        };
        // The home of somebody else may not even be looked into, and may be no
        // directory at all: whoever has it, has no file there.
        if matches!(place, Place::Usual(_)) && std::fs::metadata(path).is_err() {
            return Ok(Read::default());
        }
        match input::read_text(path, MAX_BYTES) {
            Ok(text) => Read::parse(path, text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ConfigError(
                format!("there is no configuration {}", path.display()),
            )),
            Err(error) => Err(ConfigError(format!(
                "can't read the configuration {}: {error}",
                path.display()
            ))),
        }
    }

    /// What a text says.
    pub(crate) fn parse(path: &Path, text: String) -> Result<Read, ConfigError> {
        match toml::from_str(&text) {
            Ok(configuration) => Ok(Read {
                path: Some(path.to_owned()),
                text,
                configuration,
            }),
            Err(error) => {
                let line = error.span().map(|span| line_of(&text, span.start));
                Err(wrong(path, line, &in_words(error.message())))
            }
        }
    }

    /// The line of a key, such as `run.pin`.
    pub(crate) fn line(&self, name: &str) -> Option<usize> {
        let whole = DeTable::parse(&self.text).ok()?;
        let mut table = whole.get_ref();
        let mut names = name.split('.').peekable();
        while let Some(part) = names.next() {
            let (key, value) = table.iter().find(|(key, _)| key.get_ref() == part)?;
            if names.peek().is_none() {
                return Some(line_of(&self.text, key.span().start));
            }
            let DeValue::Table(inner) = value.get_ref() else {
                return None;
            };
            table = inner;
        }
        None
    }

    /// That a key's value can't be followed.
    pub(crate) fn wrong(&self, name: &str, why: &str) -> ConfigError {
        let path = self.path.as_deref().unwrap_or(Path::new("-"));
        wrong(path, self.line(name), &format!("{name}: {why}"))
    }
}

fn wrong(path: &Path, line: Option<usize>, why: &str) -> ConfigError {
    let line = line.map_or(String::new(), |line| format!(":{line}"));
    ConfigError(format!("{}{line}: {why}", path.display()))
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    1 + before.filter(|&&byte| byte == b'\n').count()
}

/// serde's message in one line, with the key that was probably meant. It puts
/// names between backticks: the unknown one, then the known ones.
fn in_words(message: &str) -> String {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if !message.starts_with("unknown ") {
        return message;
    }
    let mut names = message.split('`').skip(1).step_by(2);
    match names.next() {
        Some(unknown) => {
            let known: Vec<&str> = names.collect();
            let near = suggestion(unknown, known.iter().copied());
            let kind = match message.starts_with("unknown variant") {
                true => "it can't be",
                false => "there is no key",
            };
            format!("{kind} {unknown:?}{near} (there are {})", known.join(", "))
        }
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let read = Read::parse(Path::new("c.toml"), text.into());
        read.expect_err(text).to_string()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_what_was_meant() {
        for (text, line, said) in [
            ("# nothing\n[run]\npinn = 1\n", 3, "did you mean pin?"),
            ("[rum]\n", 1, "did you mean run?"),
            ("[run]\nscale = \"quik\"\n", 2, "did you mean quick?"),
            ("[look]\n\nwide = \"yes\"\n", 3, "expected a boolean"),
            ("[run]\npin = -1\n", 2, "expected u32"),
            ("data_dir = 4\n", 1, "expected path string"),
            ("[run]\npin = \n", 2, "c.toml"),
            ("[run]\npin = 1\npin = 2\n", 3, "duplicate key"),
        ] {
            let error = error(text);
            assert!(error.starts_with(&format!("c.toml:{line}: ")), "{error}");
            assert!(error.contains(said), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_key_is_found_again() {
        let text = "data_dir = \"/d\"\n\n[run]\n# a comment\npin = 1\n[look]\nvs = [\n \"2012\"]\n";
        let read = Read::parse(Path::new("c.toml"), text.into()).expect("a configuration");
        let lines = ["data_dir", "run.pin", "look.vs", "look.wide"].map(|name| read.line(name));
        assert_eq!(lines, [Some(1), Some(5), Some(7), None]);
        let dotted = Read::parse(Path::new("c.toml"), "\nrun.pin = 3\n".into());
        let dotted = dotted.expect("a configuration");
        assert_eq!(dotted.configuration.run.pin, Some(3));
        assert_eq!(dotted.line("run.pin"), Some(2));
    }
}
