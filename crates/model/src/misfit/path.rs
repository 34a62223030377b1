//! Where in a JSON document a reader found a fault: `rows[0].outcome`. The reader itself knows the place in the
//! text only, and to have it know more costs a second copy of the code that reads each document.

use crate::json::string_length;
use serde::Deserialize;
use serde_json::error::Category;

/// The path of the value that does not fit, where reading a document as `T` failed with this error; empty for the
/// whole document.
pub(super) fn faulty_path<'t, T: Deserialize<'t>>(
    json: &'t [u8],
    error: &serde_json::Error,
) -> String {
    let fails = |text: &'t [u8]| serde_json::from_slice::<T>(text).err().filter(is_unfit);
    let mut end = offset(json, error);
    loop {
        let found = Position::at(&json[..end]);
        // A fault that the value itself showed after it was read is said only behind what follows it: read without
        // that, the fault is there again, and a fault of what follows is not.
        if !matches!(found.last, Some(b'}' | b']' | b',')) {
            return found.path(&error.to_string());
        }
        match fails(&json[..found.last_at]) {
            Some(earlier) => end = offset(json, &earlier).min(found.last_at),
            None => return found.path(&error.to_string()),
        }
    }
}

fn is_unfit(error: &serde_json::Error) -> bool {
    error.classify() == Category::Data
}

/// Bytes of the text that were read when the error was found.
fn offset(json: &[u8], error: &serde_json::Error) -> usize {
    let lines = json.split_inclusive(|&byte| byte == b'\n');
    let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    (before + error.column()).min(json.len())
}

/// A list or an object that is open.
enum Level {
    List { index: usize },
    Object { key: Option<String> },
}

/// Where a reader is.
#[derive(Default)]
struct Position {
    levels: Vec<Level>,
    /// The last byte that is no space, and no part of a text.
    last: Option<u8>,
    last_at: usize,
    /// Whether a key was the last that was read.
    is_at_key: bool,
}

impl Position {
    /// At the end of a text, which is the beginning of a JSON document.
    fn at(text: &[u8]) -> Position {
        let mut position = Position::default();
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let length = if byte == b'"' { string_length(&text[at..]) } else { 1 };
            if !byte.is_ascii_whitespace() {
                position.is_at_key = false;
                position.step(&text[at..at + length]);
                (position.last, position.last_at) = (Some(byte), at);
            }
            at += length;
        }
        position
    }

    fn step(&mut self, token: &[u8]) {
        match token[0] {
            b'{' => self.levels.push(Level::Object { key: None }),
            b'[' => self.levels.push(Level::List { index: 0 }),
            b'}' | b']' => drop(self.levels.pop()),
            b',' => match self.levels.last_mut() {
                Some(Level::List { index }) => *index += 1,
                Some(Level::Object { key }) => *key = None,
                None => {}
            },
            b'"' => {
                if let Some(Level::Object { key: key @ None }) = self.levels.last_mut() {
                    *key = serde_json::from_slice(token).ok();
                    self.is_at_key = true;
                }
            }
            _ => {}
        }
    }

    /// The path of what a fault is of that is said here in these words.
    fn path(&self, message: &str) -> String {
        let of_object = ["duplicate field", "unknown variant"];
        let is_of_object =
            self.is_at_key && of_object.iter().any(|begin| message.starts_with(begin));
        let mut path = String::new();
        for (at, level) in self.levels.iter().enumerate() {
            match level {
                Level::List { index } => path.push_str(&format!("[{index}]")),
                Level::Object { key: Some(key) } if !is_of_object || at + 1 < self.levels.len() => {
                    let dot = if path.is_empty() { "" } else { "." };
                    path.push_str(&format!("{dot}{key}"));
                }
                Level::Object { .. } => {}
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;
    use crate::synthetic;
    use serde_json::{Value, json};

    /// The same by a library that wraps each value's reader.
    fn tracked_path(json: &[u8]) -> Option<String> {
        let mut parser = serde_json::Deserializer::from_slice(json);
        let error = serde_path_to_error::deserialize::<_, Run>(&mut parser).err()?;
        let path = error.path().to_string();
        is_unfit(error.inner()).then_some(if path == "." { String::new() } else { path })
    }

    fn found_path(json: &[u8]) -> Option<String> {
        let error = serde_json::from_slice::<Run>(json).err().filter(is_unfit)?;
        Some(faulty_path::<Run>(json, &error))
    }

    /// Places of all values in a document, as JSON pointers; of a list's elements the first two.
    fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
        into.push(at.to_owned());
        match value {
            Value::Object(fields) => {
                fields
                    .iter()
                    .for_each(|(key, value)| pointers(value, &format!("{at}/{key}"), into));
            }
            Value::Array(list) => {
                let first = list.iter().enumerate().take(2);
                first.for_each(|(index, value)| pointers(value, &format!("{at}/{index}"), into));
            }
            _ => {}
        }
    }

    /// A document with three objects at most in each list.
    fn shorten(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(shorten),
            Value::Array(list) => {
                if list.iter().all(Value::is_object) {
                    list.truncate(3);
                }
                list.iter_mut().for_each(shorten);
            }
            _ => {}
        }
    }

    #[test]
    fn each_fault_of_a_run_has_the_place_that_a_tracking_reader_says() {
        let others = [
            json!(null),
            json!(true),
            json!(-5),
            json!(1.5),
            json!("x"),
            json!([]),
            json!({}),
            json!([1]),
            json!([{}]),
            json!({"x": 1}),
            json!(["x", "y"]),
        ];
        let mut run = synthetic::osnoise::osnoise_run();
        run.rows.extend(synthetic::run().rows);
        let mut whole = serde_json::to_value(&run).expect("JSON");
        shorten(&mut whole);
        let mut places = Vec::new();
        pointers(&whole, "", &mut places);
        let mut faults = 0;
        for place in places {
            let kept = whole.pointer(&place).expect("is there").clone();
            let mut changed: Vec<Value> = others.to_vec();
            if let Value::Object(fields) = &kept {
                changed.extend(fields.keys().map(|key| {
                    let mut fewer = fields.clone();
                    fewer.remove(key);
                    Value::Object(fewer)
                }));
            }
            for value in changed {
                let mut document = whole.clone();
                *document.pointer_mut(&place).expect("is there") = value.clone();
                for text in [serde_json::to_vec(&document), serde_json::to_vec_pretty(&document)] {
                    let text = text.expect("JSON");
                    let tracked = tracked_path(&text);
                    assert_eq!(found_path(&text), tracked, "{place} = {value}");
                    faults += usize::from(tracked.is_some());
                }
            }
        }
        assert!(faults > 1000, "{faults}");
    }
}
