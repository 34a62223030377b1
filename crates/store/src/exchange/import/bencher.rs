//! Bencher Metric Format: an object of benchmarks, each an object of measures, each with a `value` and its bounds
//! (<https://bencher.dev/docs/reference/bencher-metric-format>). It holds no samples.

use super::json::{JsonSource, Object};
use super::{FigureFound, ImportFault, ImportedFile, Measured, slug};
use crate::exchange::IGNORED_BY_BENCHER;

/// The measure that is a time, in ns.
const LATENCY: &str = "latency";
const TOOL: &str = "Bencher";

pub(super) fn read_bencher(source: &JsonSource) -> Result<ImportedFile, ImportFault> {
    let file = source.object()?;
    let mut found = ImportedFile::default();
    for key in file.names() {
        let measures = file.object(key).ok_or_else(|| file.fault(key, "an object is needed"))?;
        found.rows.push(read_entry(key, &measures)?);
    }
    Ok(found)
}

fn read_entry(key: &str, measures: &Object) -> Result<Measured, ImportFault> {
    let name = key.strip_suffix(IGNORED_BY_BENCHER).unwrap_or(key).to_owned();
    let mut notes = vec![format!("benchmark: {name}")];
    if name != key {
        notes.push("marked for Bencher to raise no alert".into());
    }
    let figure = match measures.object(LATENCY) {
        Some(latency) => {
            let ns = latency.time("value", 1.0)?.ok_or_else(|| latency.missing_field("value"))?;
            let bounds = ["lower_value", "upper_value"].map(|key| latency.time(key, 1.0));
            let what = match bounds {
                [Ok(Some(Ok(low))), Ok(Some(Ok(high)))] => {
                    let [low, high] = [low, high].map(model::figure::time);
                    format!("value, with bounds of {low} and {high}")
                }
                _ => "value".into(),
            };
            FigureFound::aggregate(ns, what, TOOL)
        }
        None => {
            let others: Vec<&str> = measures.names().take(3).collect();
            FigureFound::Failed(format!("Bencher: it has no latency, only {}", others.join(", ")))
        }
    };
    Ok(Measured { slug: slug::slug_path(&name), name, number: None, figure, notes })
}
