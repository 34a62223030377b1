//! JSON for people to read. serde_json's own indented writer is a second one beside that of plain JSON: each
//! document's writing would be compiled twice.

use serde::Serialize;

/// A value as JSON with a line for each field and element, two spaces a level, as `serde_json::to_string_pretty`
/// writes it.
///
/// # Errors
/// The value can't be written as JSON.
pub fn to_indented_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(indented(&serde_json::to_string(value)?))
}

/// The same JSON, which has no spaces outside of its texts, with them.
fn indented(json: &str) -> String {
    let mut lines = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let mut rest = json;
    // All that is copied as it is ends before one of these.
    while let Some(at) = rest.find(['"', '{', '[', '}', ']', ',', ':']) {
        let (copied, from) = rest.split_at(at);
        lines.push_str(copied);
        let mut length = 1;
        match from.as_bytes()[0] {
            b'"' => {
                length = string_length(from.as_bytes());
                lines.push_str(&from[..length]);
            }
            b':' => lines.push_str(": "),
            b',' => {
                lines.push(',');
                break_line(&mut lines, depth);
            }
            b'{' | b'[' if matches!(from.as_bytes().get(1), Some(b'}' | b']')) => {
                length = 2;
                lines.push_str(&from[..length]);
            }
            b'{' | b'[' => {
                depth += 1;
                lines.push_str(&from[..1]);
                break_line(&mut lines, depth);
            }
            _ => {
                depth -= 1;
                break_line(&mut lines, depth);
                lines.push_str(&from[..1]);
            }
        }
        rest = &from[length..];
    }
    lines.push_str(rest);
    lines
}

fn break_line(lines: &mut String, depth: usize) {
    lines.push('\n');
    (0..depth).for_each(|_| lines.push_str("  "));
}

/// Bytes of the text in quotes that JSON begins with.
pub(crate) fn string_length(json: &[u8]) -> usize {
    let mut is_escaped = true;
    let end = json.iter().position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(json.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn a_run_is_written_as_the_library_writes_it() {
        for run in
            [synthetic::run(), synthetic::osnoise::osnoise_run(), synthetic::run_of_commands()]
        {
            let expected = serde_json::to_string_pretty(&run).expect("JSON");
            assert_eq!(to_indented_json(&run).expect("JSON"), expected);
        }
    }

    #[test]
    fn what_looks_like_structure_in_texts_stays() {
        let value = serde_json::json!({
            "a\"{[:,]}": ["x\\", "\\\"", "{}", "", [], {}, [[]], [{}], {"b": []}, -1.5e-9, null, true],
            "": "\n\u{7f}é{",
        });
        for value in [value, "\\".into(), 1.into(), serde_json::json!([]), serde_json::json!([1])] {
            let expected = serde_json::to_string_pretty(&value).expect("JSON");
            assert_eq!(to_indented_json(&value).expect("JSON"), expected);
        }
    }
}
