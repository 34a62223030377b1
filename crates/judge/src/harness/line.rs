//! Lines with values in places: `{name}: benchmark`.

use super::fill::{Piece, pieces};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A line, by what stands between its values.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub(super) struct Line {
    /// What stands before the first value.
    start: String,
    /// Each value, and what ends it.
    values: Vec<(String, String)>,
}

/// Why a text is no line.
#[derive(thiserror::Error, Debug)]
pub(super) enum LineFault {
    #[error("{0:?}: nothing stands between two values")]
    NothingBetween(String),
    #[error("{0:?}: it has no value such as {{name}}")]
    NoValue(String),
}

impl TryFrom<String> for Line {
    type Error = LineFault;

    fn try_from(text: String) -> Result<Line, LineFault> {
        let mut line = Line { start: String::new(), values: Vec::new() };
        for piece in pieces(&text) {
            match (piece, line.values.last_mut()) {
                (Piece::Text(text), None) => line.start.push_str(text),
                (Piece::Text(text), Some((_, end))) => end.push_str(text),
                (Piece::Place(_), Some((_, end))) if end.is_empty() => {
                    return Err(LineFault::NothingBetween(text));
                }
                (Piece::Place(name), _) => line.values.push((name.to_owned(), String::new())),
            }
        }
        match line.values.is_empty() {
            true => Err(LineFault::NoValue(text)),
            false => Ok(line),
        }
    }
}

impl Line {
    /// The values of a line that is such a one. Each ends where its end is found first, the last one with the line.
    pub(super) fn values<'t>(&self, text: &'t str) -> Option<BTreeMap<&str, &'t str>> {
        let mut rest = text.trim_end_matches('\r').strip_prefix(&*self.start)?;
        let mut found = BTreeMap::new();
        let last = self.values.len() - 1;
        for (at, (name, end)) in self.values.iter().enumerate() {
            let value = match at == last {
                true => rest.strip_suffix(&**end)?,
                false => {
                    let (value, more) = rest.split_once(&**end)?;
                    rest = more;
                    value
                }
            };
            if value.is_empty() {
                return None;
            }
            found.insert(&**name, value);
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_lines() {
        let line = Line::try_from("{name}: benchmark".to_owned()).expect("a line");
        let of = |text| line.values(text).map(|found| found["name"].to_owned());
        assert_eq!(of("a: b: benchmark").as_deref(), Some("a: b"));
        assert_eq!(of("3 tests, 4 benchmarks"), None);
        assert_eq!(of(": benchmark"), None);
        let two = Line::try_from("{package} {directory}".to_owned()).expect("a line");
        assert_eq!(two.values("x/y /a b").expect("both")["directory"], "/a b");
        assert!(Line::try_from("{a}{b}".to_owned()).is_err());
        assert!(Line::try_from("plain".to_owned()).is_err());
    }
}
