//! Custom benchmarks of github-action-benchmark, of which smaller is better (`tool: customSmallerIsBetter`,
//! <https://github.com/benchmark-action/github-action-benchmark#examples>). It compares `value` alone.

use super::line::{ExportLine, WithEnds, in_unit, unit_name, value_in_unit};
use super::{Written, each, pretty};
use serde::Serialize;

/// Why a speed is left out.
const LARGER_IS_BETTER: &str = "larger is better, and this format is of what should be small";

#[derive(Serialize)]
struct CustomBenchmark {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    extra: String,
}

/// The file, and what it has no place for.
pub(super) fn to_benchmark_action(lines: &[ExportLine]) -> Written {
    let (benchmarks, left_out) = each(lines, |line| {
        let unit = &line.row.unit;
        if unit.inverted() {
            return Err(line.left_out_because(LARGER_IS_BETTER.into()));
        }
        let (ns, interval) = line.figure_ns().ok_or_else(|| line.left_out())?;
        let value = value_in_unit(ns, unit).ok_or_else(|| line.left_out())?;
        let range = match interval.and_then(|ns| in_unit(ns, unit)) {
            Some(WithEnds { low: Some(low), high: Some(high), .. }) => {
                Some(format!("{low} to {high}"))
            }
            _ => None,
        };
        let extra = match line.is_ok() {
            true => String::new(),
            false => format!("{}: {}", line.verdict_text(), line.reason()),
        };
        Ok(CustomBenchmark { name: line.unique_name(), unit: unit_name(unit), value, range, extra })
    });
    pretty(&benchmarks, left_out)
}
