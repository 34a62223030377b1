//! JSON lines: an object for each row (of a curve or map: for each point), each whole in itself.

use super::fields::{Field, fields};
use super::line::ExportLine;
use model::run::Run;
use serde_json::{Map, Value};

/// With what is known of a row besides its figure, by its id.
pub(super) fn to_jsonl(
    run: &Run,
    lines: &[ExportLine],
    more: impl Fn(&str) -> Map<String, Value>,
) -> serde_json::Result<String> {
    let mut text = String::new();
    for line in lines {
        let own = fields(run, line).into_iter().map(|Field { key, value, .. }| (key, value));
        let known = own.chain(more(&line.row.id));
        let known = known.filter(|(key, value)| !key.is_empty() && !value.is_null());
        text.push_str(&object_line(known)?);
    }
    Ok(text)
}

/// An object in the order of its members, and a line feed.
fn object_line(members: impl Iterator<Item = (String, Value)>) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::new(&mut bytes);
    serde::Serializer::collect_map(&mut serializer, members)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned() + "\n")
}
