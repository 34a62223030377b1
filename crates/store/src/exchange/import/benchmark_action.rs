//! What github-action-benchmark takes as a custom benchmark: a list of objects with `name`, `unit`, `value` and, as texts,
//! `range` and `extra` (<https://github.com/benchmark-action/github-action-benchmark#examples>). It holds no samples.

use super::json::{JsonSource, NotATime, Object};
use super::{FigureFound, ImportFault, ImportedFile, MAX_ROWS, Measured, slug};
use model::phrases::cut;

const TOOL: &str = "github-action-benchmark";

pub(super) fn read_benchmark_action(source: &JsonSource) -> Result<ImportedFile, ImportFault> {
    let mut found = ImportedFile::default();
    for entry in source.list(MAX_ROWS)? {
        found.rows.push(read_entry(&entry.called("name"))?);
    }
    Ok(found)
}

fn read_entry(entry: &Object) -> Result<Measured, ImportFault> {
    let name = entry.needed_text("name")?;
    let unit = entry.needed_text("unit")?;
    let value = |ns_per_unit| {
        let value = entry.time("value", ns_per_unit)?;
        value.ok_or_else(|| entry.missing_field("value"))
    };
    let range = entry.text_field("range").filter(|range| !range.is_empty());
    let what = match range {
        Some(range) => format!("value ({range})"),
        None => "value".into(),
    };
    let figure = match (ns_per(&unit), ns_of_rate(&unit)) {
        (Some(ns), _) => FigureFound::aggregate(value(ns)?, what, TOOL),
        (None, Some(ns)) => {
            let time = value(1.0)?.and_then(|rate| match rate {
                0.0 => Err(NotATime::from_word("value", "0 operations")),
                rate => Ok(ns / rate),
            });
            FigureFound::aggregate(time, what, TOOL)
        }
        (None, None) => {
            FigureFound::Failed(format!("{TOOL}: it is in {:?}, not a time", cut(&unit)))
        }
    };
    let mut notes = vec![format!("benchmark: {name}")];
    notes.extend(entry.text_field("extra").filter(|extra| !extra.is_empty()));
    Ok(Measured { slug: slug::slug_path(&name), name, number: None, figure, notes })
}

/// ns of a unit of time, as the action's own extractors write them: `ns/iter`, `ms`, `seconds`.
fn ns_per(unit: &str) -> Option<f64> {
    let of_each = ["/iter", "/op", " per iteration"];
    let unit = of_each.into_iter().find_map(|each| unit.strip_suffix(each)).unwrap_or(unit);
    Some(match unit.trim() {
        "ns" | "nanoseconds" => 1.0,
        "us" | "µs" | "μs" | "microseconds" => 1e3,
        "ms" | "milliseconds" => 1e6,
        "s" | "sec" | "second" | "seconds" => 1e9,
        _ => return None,
    })
}

/// ns in which so many operations are made.
fn ns_of_rate(unit: &str) -> Option<f64> {
    matches!(unit, "ops/sec" | "ops/s" | "iter/sec").then_some(1e9)
}
