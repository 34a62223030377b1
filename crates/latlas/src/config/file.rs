//! Reading the file. Errors name the line.

use super::Location;
use super::keys::{KEYS, Key, Kind};
use clap::Command;
use model::nearest::suggestion;
use model::text::cut;
use std::path::{Path, PathBuf};
use sys::trust;
use toml::de::{DeTable, DeValue};

/// Limit of the file's size.
const MAX_BYTES: u64 = 1 << 20;

/// The file as read.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Its path; `None` if there is no file.
    pub(crate) path: Option<PathBuf>,
    /// Its values, in the order of the keys.
    pub(crate) settings: Vec<Setting>,
}

/// A key with its value in the file.
#[derive(Debug, PartialEq)]
pub(crate) struct Setting {
    /// The key.
    pub(crate) key: &'static Key,
    /// The value as on a command line.
    pub(crate) values: Vec<String>,
    /// The line in the file.
    pub(crate) line: usize,
}

impl Setting {
    /// The option that gets the value.
    pub(crate) fn option(&self) -> Option<&'static str> {
        self.key.option_of(self.values.first().map_or("", String::as_str))
    }

    /// The value as printed.
    pub(crate) fn text(&self) -> String {
        self.values.join(", ")
    }
}

/// An error in the configuration: one line with file and line number.
#[derive(Debug, thiserror::Error)]
#[error("{0} (fix it, or ignore it with --no-config)")]
pub(crate) struct ConfigError(String);

impl ConfigError {
    /// The error without what to do.
    pub(crate) fn what(&self) -> &str {
        &self.0
    }

    /// An error in a line of the file.
    pub(super) fn in_line(path: &Path, line: usize, why: impl std::fmt::Display) -> ConfigError {
        ConfigError(format!("{}:{line}: {why}", path.display()))
    }
}

impl Read {
    /// Reads the file; a default file that does not exist is empty.
    pub(crate) fn at(location: &Location, command: &Command) -> Result<Read, ConfigError> {
        let Some(path) = location.path() else {
            return Ok(Read::default());
        };
        let path_text = path.display();
        match trust::read_text(path, MAX_BYTES) {
            Ok(text) => Read::parse(path, &text, command),
            // The home may be unreadable or not a directory: then there is no file.
            Err(_) if matches!(location, Location::Default(_)) && !path.exists() => {
                Ok(Read::default())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(ConfigError(format!("no configuration file {path_text}")))
            }
            Err(error) => {
                Err(ConfigError(format!("can't read the configuration {path_text}: {error}")))
            }
        }
    }

    /// Parses the text of a file.
    pub(crate) fn parse(path: &Path, text: &str, command: &Command) -> Result<Read, ConfigError> {
        let line_at = |offset: usize| {
            let before = text.as_bytes().iter().take(offset);
            1 + before.filter(|&&byte| byte == b'\n').count()
        };
        let root = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_at(span.start));
            let message = error.message().split_whitespace().collect::<Vec<_>>();
            ConfigError::in_line(path, line, message.join(" "))
        })?;
        let mut settings = Vec::new();
        for (name, offset, value) in flattened(root.get_ref()) {
            let line = line_at(offset);
            let wrong = |why: String| ConfigError::in_line(path, line, why);
            let key = KEYS.iter().find(|key| key.name == name);
            let key = key.ok_or_else(|| wrong(unknown(&name)))?;
            let values = values(value, &key.kind(command));
            let values = values.map_err(|why| wrong(format!("{name}: {why}")))?;
            settings.push(Setting { key, values, line });
        }
        settings.sort_by_key(|setting| KEYS.iter().position(|key| key == setting.key));
        Ok(Read { path: Some(path.to_owned()), settings })
    }

    /// The value of a key.
    pub(crate) fn setting(&self, key: &Key) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    /// An error in the value of a key.
    pub(super) fn wrong(&self, setting: &Setting, why: &str) -> ConfigError {
        let path = self.path.as_deref().unwrap_or(Path::new("-"));
        ConfigError::in_line(path, setting.line, format!("{}: {why}", setting.key.name))
    }
}

/// Keys of tables (`run.pin`) with their offsets and values. A table that is no table of ours stays a
/// value.
fn flattened<'a, 'i>(root: &'a DeTable<'i>) -> Vec<(String, usize, &'a DeValue<'i>)> {
    let mut all = Vec::new();
    for (name, value) in root {
        let known = |prefix: &str| KEYS.iter().any(|key| key.name.starts_with(prefix));
        let prefix = format!("{}.", name.get_ref());
        match value.get_ref() {
            DeValue::Table(table) if known(&prefix) => {
                for (inner, value) in table {
                    let name = format!("{prefix}{}", inner.get_ref());
                    all.push((name, inner.span().start, value.get_ref()));
                }
            }
            other => all.push((name.get_ref().to_string(), name.span().start, other)),
        }
    }
    all
}

/// Why a value is not of its key's kind.
#[derive(Debug, PartialEq, thiserror::Error)]
enum WrongKind {
    #[error("{0} is too large")]
    TooLarge(String),
    #[error("invalid value {given:?}{near} (values: {words})")]
    NoSuchWord { given: String, near: String, words: String },
    #[error("expected {0}")]
    Expected(&'static str),
}

/// The value as on a command line.
fn values(value: &DeValue, kind: &Kind) -> Result<Vec<String>, WrongKind> {
    match (kind, value) {
        (Kind::Boolean, DeValue::Boolean(on)) => Ok(vec![on.to_string()]),
        (Kind::Integer, DeValue::Integer(number)) => {
            i64::from_str_radix(number.as_str(), number.radix())
                .map(|number| vec![number.to_string()])
                .map_err(|_| WrongKind::TooLarge(number.as_str().to_owned()))
        }
        (Kind::Text, DeValue::String(text)) => Ok(vec![text.to_string()]),
        (Kind::Word(words), DeValue::String(text)) if words.iter().any(|word| word == text) => {
            Ok(vec![text.to_string()])
        }
        (Kind::Word(words), DeValue::String(text)) => Err(WrongKind::NoSuchWord {
            given: cut(text),
            near: suggestion(text, words.iter().map(String::as_str)),
            words: words.join(", "),
        }),
        (Kind::List, DeValue::Array(items)) => items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::String(text) => Ok(text.to_string()),
                _ => Err(WrongKind::Expected("an array of strings")),
            })
            .collect(),
        (Kind::Boolean, _) => Err(WrongKind::Expected("true or false")),
        (Kind::Integer, _) => Err(WrongKind::Expected("an integer")),
        (Kind::Word(_) | Kind::Text, _) => Err(WrongKind::Expected("a string")),
        (Kind::List, _) => Err(WrongKind::Expected("an array of strings")),
    }
}

/// That there is no such key, with the one that was probably meant.
fn unknown(name: &str) -> String {
    let (table, own) = name.split_once('.').unwrap_or(("", name));
    let known: Vec<&str> = match table {
        "" => {
            let first = |key: &'static Key| key.name.split('.').next().unwrap_or(key.name);
            let mut names: Vec<&str> = KEYS.iter().map(first).collect();
            names.dedup();
            names
        }
        table => {
            KEYS.iter().filter_map(|key| key.name.strip_prefix(table)?.strip_prefix('.')).collect()
        }
    };
    if known.contains(&own) {
        return format!("{own:?} is a table: write [{own}], and its keys on the lines after it");
    }
    let near = suggestion(own, known.iter().copied());
    let own = cut(own);
    format!("unknown key {own:?}{near} (known: {})", known.join(", "))
}
