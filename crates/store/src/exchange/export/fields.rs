//! What is known of a figure, field by field: the one list that JSON objects and CSV records are made of.

use super::line::{
    ExportLine, command_of, ends_in_unit, in_unit, interval_ns, program, started,
    typical_interval_ns, unit_name, value_in_unit,
};
use model::estimate::{Estimate, Mode};
use model::run::Run;
use model::unit::Unit;
use serde_json::{Map, Value};

/// A field of a figure.
pub(super) struct Field {
    /// Its column in CSV; empty for none.
    pub(super) column: &'static str,
    /// Its name in JSON, which ends in the unit; empty for none.
    pub(super) key: String,
    /// Null where it is not known.
    pub(super) value: Value,
}

/// All fields, known or not, in the order in which they are written.
pub(super) fn fields(run: &Run, line: &ExportLine) -> Vec<Field> {
    let row = line.row;
    let (per_op, unit, of_time) = units(&row.unit);
    let estimate = line.estimate.ok();
    let shown = estimate.filter(|e| e.below_ns.is_none());
    let quiet = estimate.and_then(|e| e.quiet);
    let [value, low, high] = value_and_ends(shown, &row.unit, interval_ns);
    let is_quiet = value.is_some() && quiet.is_some();
    let quiet_only = |value: Option<f64>| value.filter(|_| is_quiet);
    let headline = estimate.and_then(Estimate::headline);
    let typical = shown.and_then(Estimate::headline);
    let [typical_value, typical_low, typical_high] = typical_and_ends(shown, &row.unit);
    let [p10, p90] = match typical {
        Some((t, _)) if t.samples > 1 => ends_in_unit([t.p10_ns, t.p90_ns], &row.unit),
        _ => [None, None],
    };
    let cycles = quiet.filter(|_| shown.is_some()).and_then(|q| q.cycles);
    let tail = estimate.and_then(|e| e.tail);
    let both = |name: &'static str, value: Value| field(name, name, value);
    let in_unit =
        |name: &'static str, value: Option<f64>| field(name, format!("{name}_{unit}"), value);
    let a_time = |name: &'static str, value: Option<f64>| {
        let key = format!("{}_{of_time}", name.trim_end_matches("_ns"));
        field(name, key, value)
    };
    let only_json = |key: &str, value: Value| field("", key, value);
    let only_csv = |column: &'static str, value: Option<f64>| field(column, "", value);
    vec![
        both("row", row.id.as_str().into()),
        only_json("arm", row.arm.clone().into()),
        only_json("command", command_of(run, &row.id).map(|c| c.command_line()).into()),
        field("point", "", point_text(line)),
        only_json("point", point(line)),
        both("unit", unit_name(&row.unit).into()),
        only_csv("quiet", quiet_only(value)),
        only_csv("quiet_low", quiet_only(low)),
        only_csv("quiet_high", quiet_only(high)),
        field("", per_op, value),
        field("", format!("low_{unit}"), low),
        field("", format!("high_{unit}"), high),
        only_json("quiet", value.map(|_| is_quiet).into()),
        in_unit("typical", typical_value),
        in_unit("typical_low", typical_low),
        in_unit("typical_high", typical_high),
        in_unit("p10", p10),
        in_unit("p90", p90),
        both("mode", typical.and_then(|(_, mode)| mode).into()),
        field("cycles", "cycles_per_op", cycles.map(|c| c.value)),
        field("cycles_low", "low_cycles", cycles.map(|c| c.low)),
        field("cycles_high", "high_cycles", cycles.map(|c| c.high)),
        a_time("minimum_ns", quiet.filter(|_| shown.is_some()).map(|q| q.minimum_ns)),
        a_time("p99_ns", tail.and_then(|t| t.p99_ns).map(|p| p.value)),
        a_time("p999_ns", tail.and_then(|t| t.p999_ns).map(|p| p.value)),
        a_time("longest_ns", tail.map(|t| t.longest_ns)),
        a_time("below_ns", estimate.and_then(|e| e.below_ns)),
        both("quiet_share", estimate.and_then(|e| e.quiet_share).into()),
        both("quiet_samples", quiet.map(|q| q.samples).into()),
        both("workers", quiet.map(|q| q.workers).into()),
        // Also of what is below resolution, which has a bound and no figure.
        both("samples", headline.map(|(typical, _)| typical.samples).into()),
        only_json("modes", modes(estimate.map_or(&[], |e| &e.modes), &row.unit)),
        both("verdict", line.verdict_text().into()),
        both("reason", some_text(line.reason())),
        field("notes", "", some_text(row.notes.join("; "))),
        only_json("notes", some_list(row.notes.iter().map(|note| note.as_str().into()).collect())),
        both("run", run.id.as_str().into()),
        both("started", started(run).into()),
        both("program", program(run).into()),
        only_json("machine", run.machine.cpu_model.get().map(String::as_str).into()),
        only_json("partial", run.partial.clone().into()),
    ]
}

fn field(column: &'static str, key: impl Into<String>, value: impl Into<Value>) -> Field {
    Field { column, key: key.into(), value: value.into() }
}

/// How keys end: of the figure per operation, of others in the row's unit, and of times.
fn units(unit: &Unit) -> (&'static str, &'static str, &'static str) {
    match unit {
        Unit::Time => ("ns_per_op", "ns", "ns"),
        Unit::Bandwidth { .. } => ("gb_per_s", "gb_per_s", "ns"),
        Unit::Frequency => ("ghz", "ghz", "ns"),
        Unit::Count => ("count", "count", "count"),
        Unit::Bytes => ("bytes", "bytes", "bytes"),
    }
}

/// The figure to show first with its interval, where it has one.
fn value_and_ends(
    estimate: Option<&Estimate>,
    unit: &Unit,
    interval_ns: impl Fn(&Estimate) -> Option<model::stats::Interval>,
) -> [Option<f64>; 3] {
    let value = estimate.and_then(Estimate::ns).and_then(|ns| value_in_unit(ns.value, unit));
    let ends = estimate.and_then(interval_ns).and_then(|ns| in_unit(ns, unit));
    [value, ends.and_then(|i| i.low), ends.and_then(|i| i.high)]
}

fn typical_and_ends(estimate: Option<&Estimate>, unit: &Unit) -> [Option<f64>; 3] {
    let typical = estimate.and_then(Estimate::headline);
    let value = typical.and_then(|(typical, _)| value_in_unit(typical.ns.value, unit));
    let [_, low, high] = value_and_ends(estimate, unit, typical_interval_ns);
    [value, low, high]
}

/// `working_set_bytes=1024;stride_bytes=64`
fn point_text(line: &ExportLine) -> Value {
    let places = line.at.iter().map(|place| format!("{}={}", place.axis, place.at));
    some_text(places.collect::<Vec<_>>().join(";"))
}

fn point(line: &ExportLine) -> Value {
    let places = line.at.iter().map(|place| (place.axis.clone(), Value::from(place.at)));
    match places.collect::<Map<_, _>>() {
        none if none.is_empty() => Value::Null,
        places => Value::Object(places),
    }
}

/// The figures of a row that has several, each with its share of the operations.
fn modes(modes: &[Mode], unit: &Unit) -> Value {
    let (per_op, ..) = units(unit);
    let object = |mode: &Mode| {
        let value = value_in_unit(mode.typical.ns.value, unit);
        serde_json::json!({ "mode": mode.name, "share": mode.share, per_op: value })
    };
    some_list(modes.iter().map(object).collect())
}

fn some_text(text: String) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}

fn some_list(list: Vec<Value>) -> Value {
    if list.is_empty() { Value::Null } else { list.into() }
}
