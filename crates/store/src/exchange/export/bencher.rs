//! Bencher Metric Format
//! (<https://bencher.dev/docs/reference/bencher-metric-format>).
//!
//! A row that is not ok carries the suffix by which Bencher keeps a metric
//! without raising an alert for it: the format has no other word for doubt.

use super::line::{ExportLine, in_unit, value_in_unit};
use super::{Written, each, pretty};
use crate::exchange::IGNORED_BY_BENCHER;
use model::unit::Unit;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// The file, and what it has no place for.
pub(super) fn to_bencher(lines: &[ExportLine]) -> Written {
    let (benchmarks, left_out) = each(lines, |line| {
        let metric = metric(line).ok_or_else(|| line.left_out())?;
        let suffix = if line.is_ok() { "" } else { IGNORED_BY_BENCHER };
        let metrics = BTreeMap::from([(bencher_measure(&line.row.unit), metric)]);
        Ok((format!("{}{suffix}", line.unique_name()), metrics))
    });
    let benchmarks: BTreeMap<_, _> = benchmarks.into_iter().collect();
    pretty(&benchmarks, left_out)
}

/// Bencher's own Latency is in ns; measures it does not have yet are made
/// under the name they come with, so the name holds the unit.
fn bencher_measure(unit: &Unit) -> &'static str {
    match unit {
        Unit::Time => "latency",
        Unit::Bandwidth { .. } => "bandwidth-gb-per-s",
        Unit::Frequency => "frequency-ghz",
        Unit::Count => "count",
        Unit::Bytes => "bytes",
    }
}

fn metric(line: &ExportLine) -> Option<Metric> {
    let unit = &line.row.unit;
    let (ns, interval) = line.figure_ns()?;
    let ends = interval.and_then(|ns| in_unit(ns, unit));
    Some(Metric {
        value: value_in_unit(ns, unit)?,
        lower_value: ends.and_then(|i| i.low),
        upper_value: ends.and_then(|i| i.high),
    })
}
