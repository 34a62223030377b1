//! Comma-separated values (RFC 4180): one record a figure, numbers as they
//! are, nothing for what is not known. A text that a spreadsheet would compute
//! stands behind an apostrophe.

use super::fields::{Field, fields};
use super::line::ExportLine;
use model::printable::csv_field;
use model::run::Run;
use serde_json::Value;

pub(super) fn to_csv(run: &Run, lines: &[ExportLine]) -> String {
    let mut text = String::new();
    for line in lines {
        let mut columns = fields(run, line);
        columns.retain(|field| !field.column.is_empty());
        if text.is_empty() {
            text = record(columns.iter().map(|field| field.column.to_owned()));
        }
        text += &record(columns.iter().map(csv_cell));
    }
    text
}

fn record(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\r\n"
}

fn csv_cell(field: &Field) -> String {
    match &field.value {
        Value::String(text) => csv_field(text),
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or(String::new(), |number| number.to_string())
        }
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}
