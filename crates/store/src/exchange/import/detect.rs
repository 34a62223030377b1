//! Of which tool a file is, by what only one of them writes.

use super::files::Input;
use super::json::{JsonSource, Object};
use super::{ImportFault, InputFormat, divan, file_checks, go_test, other_tools};

/// Keys that only the first object of one format has; earlier ones count first.
const KEYS: [(&[&str], InputFormat); 9] = [
    (&["machine_info", "benchmarks"], InputFormat::PytestBenchmark),
    (&["HostEnvironmentInfo", "Benchmarks"], InputFormat::BenchmarkDotNet),
    (&["Action", "Package"], InputFormat::GoTest),
    (&["primaryMetric"], InputFormat::Jmh),
    (&["name", "unit", "value"], InputFormat::BenchmarkAction),
    (&["results"], InputFormat::Hyperfine),
    (&["benchmarks"], InputFormat::GoogleBenchmark),
    (&["schema"], InputFormat::Run),
    (&["reason"], InputFormat::Criterion),
];

/// The format of an input.
///
/// # Errors
/// That none fits, or why the file can't be read at all.
pub(super) fn detect(input: &Input) -> Result<InputFormat, ImportFault> {
    let bytes = match input {
        Input::Criterion { .. } => return Ok(InputFormat::Criterion),
        Input::File { bytes, .. } => bytes,
    };
    if crate::is_packed(bytes) {
        return Ok(InputFormat::Run);
    }
    let text = file_checks::text(bytes)?;
    if !text.trim_start().starts_with(['{', '[']) {
        if divan::is_divan(text) {
            return Ok(InputFormat::Divan);
        }
        if go_test::is_go_test(text) {
            return Ok(InputFormat::GoTest);
        }
    }
    let source = JsonSource::new(InputFormat::Run, file_checks::json(bytes)?);
    let none = || Err(ImportFault::of_file("no format fits: its first value has no key of one"));
    let first = match text.trim_start().starts_with('[') {
        true => source.list(usize::MAX)?.into_iter().next().map_or_else(none, Ok)?,
        false => source.objects().next().unwrap_or_else(none)?,
    };
    let of_keys = KEYS.into_iter().find(|(keys, _)| keys.iter().all(|key| first.has(key)));
    let found = of_keys.map(|(_, format)| format);
    found.or_else(|| is_bencher(&first).then_some(InputFormat::Bencher)).ok_or_else(|| {
        ImportFault::of_file(format!(
            "it is JSON, but not a result of {}: it has none of their keys (criterion's results are a directory)",
            other_tools::supported_tools()
        ))
    })
}

/// Whether the first of an object's fields is a benchmark of Bencher, with a measure that has a value.
fn is_bencher(first: &Object) -> bool {
    let benchmark = first.names().next().and_then(|name| first.object(name));
    benchmark.is_some_and(|benchmark| {
        let measure = benchmark.names().next().and_then(|name| benchmark.object(name));
        measure.is_some_and(|measure| measure.has("value"))
    })
}
