//! Comma-separated values (RFC 4180): one record a figure, numbers as they
//! are, nothing for what is not known. A text that a spreadsheet would compute
//! stands behind an apostrophe.

use super::line::{
    Line, ends_in_unit, in_unit, program, started, typical_interval_ns, unit_name, value_in_unit,
};
use model::estimate::Estimate;
use model::run::Run;

const COLUMNS: [&str; 30] = [
    "row",
    "point",
    "unit",
    "quiet",
    "quiet_low",
    "quiet_high",
    "typical",
    "typical_low",
    "typical_high",
    "p10",
    "p90",
    "mode",
    "cycles",
    "cycles_low",
    "cycles_high",
    "minimum_ns",
    "p99_ns",
    "p999_ns",
    "longest_ns",
    "below_ns",
    "quiet_share",
    "quiet_samples",
    "workers",
    "samples",
    "verdict",
    "reason",
    "notes",
    "run",
    "started",
    "program",
];

/// The file.
pub(super) fn text(run: &Run, lines: &[Line]) -> String {
    let header = COLUMNS.map(str::to_owned).to_vec();
    let records = lines.iter().map(|line| record(run, line));
    let all = std::iter::once(header).chain(records);
    all.map(|record| {
        let cells: Vec<String> = record.iter().map(|cell| quoted(cell)).collect();
        cells.join(",") + "\r\n"
    })
    .collect()
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

fn record(run: &Run, line: &Line) -> Vec<String> {
    let unit = &line.row.unit;
    let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    let count = |value: Option<u32>| value.map_or(String::new(), |v| v.to_string());
    let estimate = line.estimate.ok();
    // What is below resolution has a bound and no figure.
    let shown = estimate.filter(|e| e.below_ns.is_none());
    let quiet = shown.and_then(|e| in_unit(e.quiet?.ns, unit));
    let (typical, mode) = shown.and_then(Estimate::headline).unzip();
    let typical_ends = shown
        .and_then(typical_interval_ns)
        .and_then(|ns| in_unit(ns, unit));
    let ends = typical
        .filter(|t| t.samples > 1)
        .map(|t| ends_in_unit([t.p10_ns, t.p90_ns], unit));
    let cycles = shown.and_then(|e| e.quiet).and_then(|q| q.cycles);
    let tail = estimate.and_then(|e| e.tail);
    let points: Vec<String> = line
        .at
        .iter()
        .map(|place| format!("{}={}", place.axis, place.at))
        .collect();
    vec![
        text_cell(line.row.id.clone()),
        text_cell(points.join(";")),
        unit_name(unit).into(),
        number(quiet.map(|q| q.value)),
        number(quiet.and_then(|q| q.low)),
        number(quiet.and_then(|q| q.high)),
        number(typical.and_then(|t| value_in_unit(t.ns.value, unit))),
        number(typical_ends.and_then(|i| i.low)),
        number(typical_ends.and_then(|i| i.high)),
        number(ends.and_then(|e| e[0])),
        number(ends.and_then(|e| e[1])),
        text_cell(mode.flatten().unwrap_or_default().to_owned()),
        number(cycles.map(|c| c.value)),
        number(cycles.map(|c| c.low)),
        number(cycles.map(|c| c.high)),
        number(shown.and_then(|e| e.quiet).map(|q| q.minimum_ns)),
        number(tail.and_then(|t| t.p99_ns).map(|i| i.value)),
        number(tail.and_then(|t| t.p999_ns).map(|i| i.value)),
        number(tail.map(|t| t.longest_ns)),
        number(estimate.and_then(|e| e.below_ns)),
        number(estimate.and_then(|e| e.quiet_share)),
        count(estimate.and_then(|e| e.quiet).map(|q| q.samples)),
        count(estimate.and_then(|e| e.quiet).map(|q| q.workers)),
        count(
            estimate
                .and_then(Estimate::headline)
                .map(|(t, _)| t.samples),
        ),
        line.verdict().into(),
        text_cell(line.reason()),
        text_cell(line.row.notes.join("; ")),
        run.id.clone(),
        text_cell(started(run).unwrap_or_default()),
        text_cell(program(run)),
    ]
}

/// A text as spreadsheets must have it: one that begins with one of these is a
/// formula to them, which may fetch or run something
/// (<https://owasp.org/www-community/attacks/CSV_Injection>).
fn text_cell(text: String) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text,
    }
}
