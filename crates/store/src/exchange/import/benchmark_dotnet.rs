//! BenchmarkDotNet's `*-report-full.json`: `Benchmarks`, each with its `Measurements`, and `Statistics` in ns
//! (<https://benchmarkdotnet.org/articles/configs/exporters.html>, JsonExporter).

use super::json::{JsonSource, Object};
use super::{FigureFound, ImportFault, ImportedFile, MAX_ROWS, MAX_SAMPLES, Measured, slug};

const TOOL: &str = "BenchmarkDotNet";

pub(super) fn read_benchmark_dotnet(source: &JsonSource) -> Result<ImportedFile, ImportFault> {
    let file = source.object()?;
    let mut found = ImportedFile::default();
    if let Some(host) = file.object("HostEnvironmentInfo") {
        found.version = host.text_field("BenchmarkDotNetVersion");
        let facts =
            ["ProcessorName", "OsVersion", "RuntimeVersion"].map(|key| host.text_field(key));
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        if !facts.is_empty() {
            found.remarks.push(format!("the file says: {}", facts.join(", ")));
        }
    }
    for entry in file.objects("Benchmarks", MAX_ROWS)? {
        found.rows.push(read_entry(&entry.called("FullName"))?);
    }
    Ok(found)
}

fn read_entry(entry: &Object) -> Result<Measured, ImportFault> {
    let name = entry.needed_text("FullName")?;
    let notes = vec![format!("benchmark: {name}")];
    let figure = match (samples(entry)?, entry.object("Statistics")) {
        (samples, _) if !samples.is_empty() => FigureFound::Samples(samples),
        (_, Some(statistics)) => of_statistics(&statistics)?,
        (_, None) => FigureFound::Failed("BenchmarkDotNet: it has no results".into()),
    };
    Ok(Measured { slug: slug::slug_path(&name), name, number: None, figure, notes })
}

/// What was measured for the result, of a full report: other measurements are of warm-up, or find how many calls to make.
fn samples(entry: &Object) -> Result<Vec<(u64, f64)>, ImportFault> {
    if !entry.has("Measurements") {
        return Ok(Vec::new());
    }
    let mut samples = Vec::new();
    for one in entry.objects("Measurements", MAX_SAMPLES)? {
        let is = |key, value: &str| one.text_field(key).as_deref() == Some(value);
        if !(is("IterationMode", "Workload") && is("IterationStage", "Result")) {
            continue;
        }
        let calls = one.needed_whole("Operations")?.filter(|&calls| calls > 0);
        let calls = calls.ok_or_else(|| one.fault("Operations", "a time of no calls"))?;
        let ns = one.time("Nanoseconds", 1.0)?.ok_or_else(|| one.missing_field("Nanoseconds"))?;
        match ns {
            Ok(ns) => samples.push((calls, ns)),
            Err(why) => return Err(one.fault("Nanoseconds", why)),
        }
    }
    Ok(samples)
}

fn of_statistics(statistics: &Object) -> Result<FigureFound, ImportFault> {
    if let Some(values) = statistics.times_field("OriginalValues", 1.0, MAX_SAMPLES)? {
        let samples = values.into_iter().map(|value| Ok((1, value?)));
        return Ok(FigureFound::from_samples(samples.collect(), TOOL));
    }
    let median = statistics.time("Median", 1.0)?;
    let median = median.ok_or_else(|| statistics.missing_field("Median"))?;
    let n = statistics.whole("N").map(|n| format!(" of {n} iterations")).unwrap_or_default();
    Ok(FigureFound::aggregate(median, format!("median{n}"), TOOL))
}
