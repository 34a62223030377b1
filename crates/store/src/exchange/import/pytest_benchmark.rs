//! What `pytest --benchmark-json` writes: `benchmarks`, each with `stats` in seconds of one call, and in `data` a value
//! of each round, which calls it `iterations` times (<https://pytest-benchmark.readthedocs.io/en/stable/usage.html>).

use super::json::{JsonSource, Object};
use super::{FigureFound, ImportFault, ImportedFile, MAX_ROWS, MAX_SAMPLES, Measured, slug};

/// ns of a second.
const NS: f64 = 1e9;
const TOOL: &str = "pytest-benchmark";

pub(super) fn read_pytest_benchmark(source: &JsonSource) -> Result<ImportedFile, ImportFault> {
    let file = source.object()?;
    let mut found = ImportedFile {
        version: file.text_field("version"),
        measured_at: file.text_field("datetime"),
        ..ImportedFile::default()
    };
    if let Some(machine) = file.object("machine_info") {
        found.host_name = machine.text_field("node");
        let python = ["python_implementation", "python_version"].map(|key| machine.text_field(key));
        let python: Vec<String> = python.into_iter().flatten().collect();
        if !python.is_empty() {
            found.remarks.push(format!("the file says: {}", python.join(" ")));
        }
    }
    for entry in file.objects("benchmarks", MAX_ROWS)? {
        found.rows.push(read_entry(&entry.called("fullname"))?);
    }
    Ok(found)
}

fn read_entry(entry: &Object) -> Result<Measured, ImportFault> {
    let name = match entry.has("fullname") {
        true => entry.needed_text("fullname")?,
        false => entry.needed_text("name")?,
    };
    let stats = entry.object("stats").ok_or_else(|| entry.missing_field("stats"))?;
    let iterations = match stats.needed_whole("iterations")? {
        Some(0) => return Err(stats.fault("iterations", "a time of no iterations")),
        n => n.unwrap_or(1),
    };
    let figure = match stats.times_field("data", NS, MAX_SAMPLES)? {
        Some(data) if !data.is_empty() => {
            let sample = |time: super::Time| Ok((iterations, time? * iterations as f64));
            FigureFound::from_samples(data.into_iter().map(sample).collect(), TOOL)
        }
        _ => {
            let median = stats.time("median", NS)?.ok_or_else(|| stats.missing_field("median"))?;
            let rounds = stats.whole("rounds");
            let of = rounds.map(|rounds| format!(" of {rounds} rounds")).unwrap_or_default();
            FigureFound::aggregate(median, format!("median{of}"), TOOL)
        }
    };
    let notes = vec![format!("benchmark: {name}")];
    Ok(Measured { slug: slug::slug_path(&name), name, number: None, figure, notes })
}
