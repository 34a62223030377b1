//! Comma-separated values (RFC 4180): one record a figure, numbers as they
//! are, nothing for what is not known. A text that a spreadsheet would compute
//! stands behind an apostrophe.

use super::jsonl;
use super::line::Line;
use model::estimate::Estimate;
use model::run::Run;
use model::text::csv_field;
use serde_json::Value;

/// Each column, and where [`jsonl`] has it.
const COLUMNS: [(&str, &str); 30] = [
    ("row", "/row"),
    ("point", "/point"),
    ("unit", "/unit"),
    ("quiet", "/quiet/value"),
    ("quiet_low", "/quiet/low"),
    ("quiet_high", "/quiet/high"),
    ("typical", "/typical/value"),
    ("typical_low", "/typical/low"),
    ("typical_high", "/typical/high"),
    ("p10", "/typical/p10"),
    ("p90", "/typical/p90"),
    ("mode", "/typical/mode"),
    ("cycles", "/cycles/value"),
    ("cycles_low", "/cycles/low"),
    ("cycles_high", "/cycles/high"),
    ("minimum_ns", "/minimum_ns"),
    ("p99_ns", "/tail/p99_ns/value"),
    ("p999_ns", "/tail/p999_ns/value"),
    ("longest_ns", "/tail/longest_ns"),
    ("below_ns", "/below_ns"),
    ("quiet_share", "/quiet_share"),
    ("quiet_samples", "/quiet_samples"),
    ("workers", "/workers"),
    ("samples", "/samples"),
    ("verdict", "/verdict"),
    ("reason", "/reason"),
    ("notes", "/notes"),
    ("run", "/run"),
    ("started", "/started"),
    ("program", "/program"),
];

pub(super) fn text(run: &Run, lines: &[Line]) -> serde_json::Result<String> {
    let mut text = COLUMNS.map(|(name, _)| name).join(",") + "\r\n";
    for line in lines {
        let object = object(run, line)?;
        let cells = COLUMNS.map(|(_, at)| object.pointer(at).map_or(String::new(), cell));
        text += &(cells.join(",") + "\r\n");
    }
    Ok(text)
}

/// What a record holds, in one text where there are several.
fn object(run: &Run, line: &Line) -> serde_json::Result<Value> {
    let mut object = serde_json::to_value(jsonl::object(run, line))?;
    let points = line.at.iter().map(|place| format!("{}={}", place.axis, place.at));
    object["point"] = points.collect::<Vec<_>>().join(";").into();
    object["notes"] = line.row.notes.join("; ").into();
    // Also of what is below resolution, which has a bound and no figure.
    let headline = line.estimate.ok().and_then(Estimate::headline);
    object["samples"] = headline.map(|(typical, _)| typical.samples).into();
    Ok(object)
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => csv_field(text),
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or(String::new(), |number| number.to_string())
        }
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}
