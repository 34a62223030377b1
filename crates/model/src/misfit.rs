//! Documents that people and other programs hand in: what does not fit is said in plain words, with its
//! place in the text and in the document. The parsers' own words name types of this program.

mod path;

use crate::limits::{Counter, DocumentLimits};
use crate::phrases::cut;
use path::faulty_path;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;

/// Why a text is not the document that it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct Misfit {
    /// What kind of fault.
    pub kind: MisfitKind,
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
    /// In words.
    pub reason: String,
}

/// What kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MisfitKind {
    /// The text ends in the middle.
    CutOff,
    /// It is not JSON.
    NotJson,
    /// It is JSON of another form.
    Unfit,
}

/// A byte order mark, which some editors and shells put in front of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of a file without its byte order mark.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

/// Reads a JSON document.
pub fn read_json<'t, T: Deserialize<'t>>(bytes: &'t [u8]) -> Result<T, Misfit> {
    let json = without_mark(bytes);
    serde_json::from_slice(json).map_err(|error| {
        let mut misfit = misfit(&error, json);
        if misfit.kind == MisfitKind::Unfit {
            misfit.reason = reason_at(&faulty_path::<T>(json, &error), &misfit.reason);
        }
        misfit
    })
}

/// Reads a JSON document that keeps to limits, which are checked before anything is made of it.
pub fn read_json_within<'t, T: Deserialize<'t>>(
    bytes: &'t [u8],
    limits: &DocumentLimits,
) -> Result<T, Misfit> {
    let json = without_mark(bytes);
    let mut counter = Counter::new(limits);
    if let Err(excess) = counter.feed(json) {
        let before = &json[..counter.bytes().min(json.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let begins = before.iter().rposition(|&byte| byte == b'\n');
        return Err(Misfit {
            kind: MisfitKind::Unfit,
            line,
            column: before.len() - begins.map_or(0, |at| at + 1),
            reason: excess.to_string(),
        });
    }
    read_json(json)
}

/// What a document says of itself, whatever else is in it.
#[derive(Deserialize)]
pub struct Head {
    schema: u32,
    /// These two only a run has, whose schemas are counted on their own.
    rows: Option<IgnoredAny>,
    gate: Option<IgnoredAny>,
}

impl Head {
    /// Its schema, if it is none of a run, and newer than the one that is known. What such a document lacks or
    /// has in addition is no fault of it.
    pub fn newer_than(&self, known: u32) -> Option<u32> {
        let is_run = self.rows.is_some() && self.gate.is_some();
        Some(self.schema).filter(|&schema| schema > known && !is_run)
    }
}

/// The schema of a JSON document, if it is newer than the one that is known ([`Head::newer_than`]).
pub fn newer_schema(bytes: &[u8], known: u32) -> Option<u32> {
    let head: Head = serde_json::from_slice(without_mark(bytes)).ok()?;
    head.newer_than(known)
}

/// A reason with its place in a document; none is the whole.
fn reason_at(path: &str, reason: &str) -> String {
    match path {
        "" => reason.to_owned(),
        path => format!("{}: {reason}", cut(path)),
    }
}

/// The fault that a parser found in a text.
pub fn misfit(error: &serde_json::Error, json: &[u8]) -> Misfit {
    let (line, column) = (error.line().max(1), error.column().max(1));
    let text = json.split(|&byte| byte == b'\n').nth(line - 1);
    let text = text.unwrap_or_default();
    // A number that is cut off behind its point is bad syntax to the parser.
    let lines = 1 + json.iter().filter(|&&byte| byte == b'\n').count();
    let at_the_end = line == lines && column >= text.len();
    let is_begun = matches!(json.first(), Some(b'{' | b'['));
    // What ends as a document does is whole.
    let is_closed = matches!(json.trim_ascii_end().last(), Some(b'}' | b']'));
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    let (kind, reason) = match error.classify() {
        Category::Eof => (MisfitKind::CutOff, "it is truncated".into()),
        Category::Syntax
            if at_the_end && is_begun && !is_closed && message != "trailing characters" =>
        {
            (MisfitKind::CutOff, "it is truncated".into())
        }
        Category::Syntax if message == "recursion limit exceeded" => {
            (MisfitKind::NotJson, "it is nested too deeply".into())
        }
        Category::Syntax if message == "number out of range" => {
            (MisfitKind::NotJson, "a number is too large".into())
        }
        Category::Syntax => (MisfitKind::NotJson, not_json(text, column)),
        Category::Data | Category::Io => (MisfitKind::Unfit, plain_message(message)),
    };
    Misfit { kind, line, column, reason }
}

fn not_json(line: &[u8], column: usize) -> String {
    let rest = String::from_utf8_lossy(line.get(column - 1..).unwrap_or_default());
    match rest.trim() {
        "" => "it is not JSON: unexpected end of the line".into(),
        rest => {
            let start: String = rest.chars().take(20).collect();
            format!("it is not JSON: unexpected {start:?}")
        }
    }
}

/// What serde says of a value, as a user would say it; any other text stays.
pub fn plain_message(message: &str) -> String {
    let parted = |prefix: &str| message.strip_prefix(prefix)?.split_once(", expected ");
    if let Some((found, wanted)) = parted("invalid type: ").or_else(|| parted("invalid value: ")) {
        return format!("{} is needed, not {}", self::wanted(wanted), self::found(found));
    }
    if let Some((length, wanted)) = parted("invalid length ") {
        return format!("{} is needed, not a list of {length}", self::wanted(wanted));
    }
    let quoted = |prefix: &str| message.strip_prefix(prefix)?.split_once('`');
    if let Some((name, _)) = quoted("missing field `") {
        return format!("{name:?} is missing");
    }
    if let Some((name, _)) = quoted("duplicate field `") {
        return format!("{:?} comes twice", cut(name));
    }
    for prefix in ["unknown field `", "unknown variant `"] {
        if let Some((name, rest)) = quoted(prefix) {
            let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
            return match known.is_empty() {
                true => format!("unknown: {:?}", cut(name)),
                false => format!("unknown: {:?} (known: {})", cut(name), known.join(", ")),
            };
        }
    }
    let text = match message {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "a whole number from 0 is needed"
        }
        "number too large to fit in target type" => "the number is too large",
        _ if message.starts_with("data did not match any variant") => {
            "it has none of the forms that latlas knows"
        }
        own => own,
    };
    text.to_owned()
}

fn found(what: &str) -> String {
    let (kind, value) = what.split_once(' ').unwrap_or((what, ""));
    match (kind, value.trim_matches('`')) {
        ("string", text) => cut(text),
        ("boolean" | "integer" | "floating" | "character", value) => {
            value.trim_start_matches("point `").to_owned()
        }
        ("sequence", _) => "a list".into(),
        ("map", _) => "an object".into(),
        ("unit" | "null" | "Option", _) => "null".into(),
        _ => cut(what),
    }
}

fn wanted(what: &str) -> String {
    let last = what.rsplit(' ').find_map(|word| word.parse::<usize>().ok());
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| what.starts_with(prefix));
    let text = match what {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" | "string" | "str" | "a borrowed string" | "path string" => "a text",
        "a boolean" => "true or false",
        "a sequence" | "sequence" => "a list",
        "string or map" => "a text or an object",
        "unit" | "null" | "option" => "null",
        _ if begins(&["struct ", "a map", "map", "internally tagged", "adjacently tagged"]) => {
            "an object"
        }
        _ if begins(&["an array", "a tuple", "tuple ", "fewer elements"]) => match last {
            Some(length) => return format!("a list of {length}"),
            None => "a list",
        },
        _ if begins(&["a nonzero"]) => "a whole number other than 0",
        _ if begins(&["enum ", "variant ", "field ", "unit ", "newtype "]) => {
            "one of the forms that latlas knows"
        }
        own => own,
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_newer_schema_is_known_without_the_rest() {
        for (json, newer) in [
            (r#"{"schema":2}"#, Some(2)),
            ("\u{feff}{\"schema\":99999,\"hosts\":{}}", Some(99_999)),
            (r#"{"schema":1}"#, None),
            (r#"{"schema":6,"rows":[],"gate":{}}"#, None),
            (r#"{"schema":"2"}"#, None),
            ("{\"schema\":2", None),
        ] {
            assert_eq!(newer_schema(json.as_bytes(), 1), newer, "{json}");
        }
    }

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Inner {
        id: String,
        count: Option<u32>,
        share: Option<f64>,
        pair: Option<(u8, u8)>,
        three: Option<[u8; 3]>,
        word: Option<Word>,
        is: Option<bool>,
        list: Option<Vec<i64>>,
        any: Option<Any>,
        map: Option<BTreeMap<String, u8>>,
    }

    #[derive(Deserialize, Debug)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code, reason = "only read")]
    enum Word {
        Fast,
        Slow { by: u8 },
    }

    #[derive(Deserialize, Debug)]
    #[serde(untagged)]
    #[allow(dead_code, reason = "only read")]
    enum Any {
        Number(u8),
        List(Vec<u8>),
    }

    #[derive(Deserialize, Debug)]
    #[allow(dead_code, reason = "only read")]
    struct Outer {
        rows: Vec<Inner>,
    }

    fn reason(fields: &str) -> String {
        let json = format!("\u{feff}{{\"rows\": [\n{{\"id\": \"a\", {fields}}}]}}");
        let misfit = read_json::<Outer>(json.as_bytes()).expect_err(fields);
        assert_eq!((misfit.kind, misfit.line), (MisfitKind::Unfit, 2), "{misfit}");
        misfit.reason
    }

    #[test]
    fn what_does_not_fit_is_said_in_plain_words_with_its_place() {
        let long = "x".repeat(100);
        for (fields, expected) in [
            ("\"count\": -5", "rows[0].count: a whole number from 0 is needed, not -5"),
            ("\"count\": \"5\"", "rows[0].count: a whole number from 0 is needed, not \"5\""),
            ("\"count\": 5.5", "rows[0].count: a whole number from 0 is needed, not 5.5"),
            ("\"share\": {}", "rows[0].share: a number is needed, not an object"),
            ("\"share\": []", "rows[0].share: a number is needed, not a list"),
            ("\"is\": 1", "rows[0].is: true or false is needed, not 1"),
            ("\"pair\": [1]", "rows[0].pair: a list of 2 is needed, not a list of 1"),
            ("\"three\": [1]", "rows[0].three: a list of 3 is needed, not a list of 1"),
            ("\"list\": true", "rows[0].list: a list is needed, not true"),
            ("\"list\": [1, \"a\"]", "rows[0].list[1]: a whole number is needed, not \"a\""),
            ("\"map\": {\"k\": null}", "rows[0].map.k: a whole number from 0 is needed, not null"),
            ("\"word\": \"quick\"", "rows[0].word: unknown: \"quick\" (known: fast, slow)"),
            ("\"any\": \"x\"", "rows[0].any: it has none of the forms that latlas knows"),
            (
                "\"wrod\": 1",
                "rows[0].wrod: unknown: \"wrod\" (known: id, count, share, pair, three, word, is, list, any, map)",
            ),
            ("\"id\": \"b\"", "rows[0]: \"id\" comes twice"),
        ] {
            assert_eq!(reason(fields), expected, "{fields}");
        }
        let cut = reason(&format!("\"count\": \"{long}\""));
        assert!(cut.len() < 150 && cut.ends_with("..."), "{cut}");
    }

    #[test]
    fn what_is_not_json_is_told_from_what_was_cut_off() {
        let of = |text: &str| {
            let misfit = read_json::<Outer>(text.as_bytes()).expect_err(text);
            (misfit.kind, misfit.to_string())
        };
        for (text, kind, expected) in [
            ("{}", MisfitKind::Unfit, "line 1, column 2: \"rows\" is missing"),
            ("[]", MisfitKind::Unfit, "line 1, column 2: an object is needed, not a list of 0"),
            (
                "hello there",
                MisfitKind::NotJson,
                "line 1, column 1: it is not JSON: unexpected \"hello there\"",
            ),
            (
                "{\"rows\": []} x",
                MisfitKind::NotJson,
                "line 1, column 14: it is not JSON: unexpected \"x\"",
            ),
            (
                "{\"rows\": [,\n]}",
                MisfitKind::NotJson,
                "line 1, column 11: it is not JSON: unexpected \",\"",
            ),
            (
                "{\"rows\": [1e999]}",
                MisfitKind::NotJson,
                "line 1, column 15: a number is too large",
            ),
            (
                "{\"rows\": [{\"share\": 1.",
                MisfitKind::CutOff,
                "line 1, column 22: it is truncated",
            ),
            (
                "{\"rows\": [],}",
                MisfitKind::NotJson,
                "line 1, column 13: it is not JSON: unexpected \"}\"",
            ),
            (
                "{\"rows\": [],}\n",
                MisfitKind::NotJson,
                "line 1, column 13: it is not JSON: unexpected \"}\"",
            ),
            ("{\"rows\": [", MisfitKind::CutOff, "line 1, column 10: it is truncated"),
            (
                "{\"rows\": 5}",
                MisfitKind::Unfit,
                "line 1, column 10: rows: a list is needed, not 5",
            ),
            (
                "{\"rows\": [5]}",
                MisfitKind::Unfit,
                "line 1, column 11: rows[0]: an object is needed, not 5",
            ),
        ] {
            assert_eq!(of(text), (kind, expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn other_messages_stay() {
        for message in ["a share is 0 to 1", "key with no value, expected `=`"] {
            assert_eq!(plain_message(message), message);
        }
    }
}
