//! A Run document of another machine, taken as it is.

use super::files::Input;
use super::text::{MAX_FILE_BYTES, is_hidden, json, too_large};
use super::{Fault, MAX_ROWS};
use crate::store;
use model::run::Run;
use serde_json::Value;
use std::collections::HashSet;

/// First bytes of a zstd frame (RFC 8878, 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether it is a kept run, whatever its name is.
pub(super) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&ZSTD_MAGIC)
}

/// The run, if it is whole and hides nothing.
pub(super) fn run(input: &Input) -> Result<Run, Fault> {
    let Input::File { bytes, .. } = input else {
        return Err(Fault::of_file("it is a directory, and a run is a file"));
    };
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large());
    }
    if !is_compressed(bytes) {
        json(bytes)?;
    }
    let run = store::from_bytes(bytes).map_err(Fault::of_file)?;
    if run.rows.len() > MAX_ROWS {
        return Err(Fault::of_file(format!("it has more than {MAX_ROWS} rows")));
    }
    let mut ids = HashSet::new();
    for row in &run.rows {
        if !ids.insert(&row.id) {
            return Err(Fault::of_file(format!("the row {:?} comes twice", row.id)));
        }
    }
    let document =
        serde_json::to_value(&run).map_err(|e| Fault::of_file(format!("it is not whole: {e}")))?;
    match hidden(&document) {
        None => Ok(run),
        Some(c) => Err(Fault::of_file(format!(
            "the control or invisible character U+{:04X} in a text",
            c as u32
        ))),
    }
}

/// The first hidden character of any text. The types bound the depth.
fn hidden(value: &Value) -> Option<char> {
    let in_text = |text: &str| {
        text.chars()
            .find(|&c| is_hidden(c) && !matches!(c, '\n' | '\t'))
    };
    match value {
        Value::String(text) => in_text(text),
        Value::Array(values) => values.iter().find_map(hidden),
        Value::Object(fields) => fields
            .iter()
            .find_map(|(name, value)| in_text(name).or_else(|| hidden(value))),
        _ => None,
    }
}
