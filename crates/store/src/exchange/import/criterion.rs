//! criterion's own files: `benchmark.json` names a benchmark, `sample.json`
//! has the iterations and the time (ns) of each of its samples,
//! `estimates.json` what criterion made of them
//! (<https://docs.rs/criterion>, written below `target/criterion`).

use super::fields::{self, Amount, Name, Samples};
use super::files::{Benchmark, Part};
use super::{Fault, FigureFound, Found, ImportError, Measured, UnfitValue, slug, text};
use serde::Deserialize;
use std::collections::HashMap;

#[derive(Deserialize)]
struct Id {
    group_id: Name,
    function_id: Option<Name>,
    value_str: Option<Name>,
    throughput: Option<Throughput>,
}

/// One of them is there.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Throughput {
    bytes: Option<u64>,
    bytes_decimal: Option<u64>,
    elements: Option<u64>,
}

#[derive(Deserialize)]
struct Sample {
    sampling_mode: Option<Name>,
    iters: Samples<Amount>,
    times: Samples<Amount>,
}

#[derive(Deserialize)]
struct Estimates {
    median: Option<Estimate>,
    mean: Option<Estimate>,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: Amount,
}

/// Reads the benchmarks of a directory.
pub(super) fn read(benchmarks: &[Benchmark]) -> Result<Found, ImportError> {
    let mut found = Found::default();
    let mut names: HashMap<String, &str> = HashMap::new();
    for benchmark in benchmarks {
        let measured = measured(benchmark)?;
        if let Some(before) = names.insert(measured.name.clone(), &benchmark.directory) {
            let reason = format!(
                "{:?} is in {} too: import each in a run of its own",
                measured.name,
                model::text::visible(before)
            );
            return Err(Fault::of_file(reason).in_file(&benchmark.directory));
        }
        found.rows.push(measured);
    }
    Ok(found)
}

/// Reads one of the files, if it is there.
fn part<T: for<'t> Deserialize<'t>>(part: Option<&Part>) -> Result<Option<T>, ImportError> {
    let Some(part) = part else {
        return Ok(None);
    };
    text::json(&part.bytes)
        .and_then(fields::parse)
        .map(Some)
        .map_err(|fault| fault.in_file(&part.name))
}

fn measured(benchmark: &Benchmark) -> Result<Measured, ImportError> {
    let id: Option<Id> = part(benchmark.id.as_ref())?;
    let sample: Option<Sample> = part(benchmark.sample.as_ref())?;
    let estimates: Option<Estimates> = part(benchmark.estimates.as_ref())?;
    let name = match &id {
        Some(id) => {
            let parts = [
                Some(&id.group_id),
                id.function_id.as_ref(),
                id.value_str.as_ref(),
            ];
            let parts: Vec<&str> = parts.into_iter().flatten().map(|n| n.0.as_str()).collect();
            parts.join("/")
        }
        // The directory has its name, as far as a file system can hold it.
        None => {
            fields::check_name(&benchmark.fallback_name)
                .map_err(|reason| Fault::of_file(reason).in_file(&benchmark.directory))?;
            benchmark.fallback_name.clone()
        }
    };
    let mut notes = vec![format!("benchmark: {name}")];
    if let Some(throughput) = id.as_ref().and_then(|id| id.throughput.as_ref()) {
        let bytes = throughput.bytes.or(throughput.bytes_decimal);
        let amounts = [(bytes, "bytes"), (throughput.elements, "elements")];
        for (amount, what) in amounts {
            notes.extend(amount.map(|n| format!("an iteration processes: {n} {what}")));
        }
    }
    let figure = match (sample, estimates) {
        (Some(sample), _) => {
            if let Some(mode) = &sample.sampling_mode {
                notes.push(format!("criterion's sampling: {}", mode.0));
            }
            let file = benchmark.sample.as_ref().map_or("", |part| &part.name);
            samples(&sample).map_err(|reason| Fault::of_file(reason).in_file(file))?
        }
        (None, Some(estimates)) => {
            let file = benchmark.estimates.as_ref().map_or("", |part| &part.name);
            aggregate(estimates).map_err(|reason| Fault::of_file(reason).in_file(file))?
        }
        (None, None) => {
            let reason = "there is neither sample.json nor estimates.json";
            return Err(Fault::of_file(reason).in_file(&benchmark.directory));
        }
    };
    Ok(Measured {
        slug: slug::path(&name),
        name,
        figure,
        notes,
    })
}

/// Why a file of criterion's gives no figure.
#[derive(thiserror::Error, Debug, PartialEq)]
enum NoFigure {
    #[error("{iters} iters and {times} times: each sample has one of both")]
    Unpaired { iters: usize, times: usize },
    #[error("it holds no sample")]
    NoSample,
    #[error("iters[{place}] is {number}, which is no number of iterations")]
    NotACount { place: usize, number: f64 },
    #[error("it has neither a median nor a mean")]
    NoEstimate,
    #[error(transparent)]
    Value(#[from] UnfitValue),
}

fn samples(sample: &Sample) -> Result<FigureFound, NoFigure> {
    let (iters, times) = (&sample.iters.0, &sample.times.0);
    if iters.len() != times.len() {
        return Err(NoFigure::Unpaired {
            iters: iters.len(),
            times: times.len(),
        });
    }
    if iters.is_empty() {
        return Err(NoFigure::NoSample);
    }
    let mut samples = Vec::with_capacity(iters.len());
    for (place, (iterations, time)) in iters.iter().zip(times).enumerate() {
        let number = iterations.0;
        if number < 1.0 || number.fract() != 0.0 || number > 9e15 {
            return Err(NoFigure::NotACount { place, number });
        }
        samples.push((number as u64, fields::ns(*time, 1.0)?));
    }
    Ok(FigureFound::Samples(samples))
}

fn aggregate(estimates: Estimates) -> Result<FigureFound, NoFigure> {
    let (estimate, what) = match (estimates.median, estimates.mean) {
        (Some(median), _) => (median, "median"),
        (None, Some(mean)) => (mean, "mean"),
        (None, None) => return Err(NoFigure::NoEstimate),
    };
    Ok(FigureFound::Aggregate {
        ns: fields::ns(estimate.point_estimate, 1.0)?,
        what: format!("{what} that criterion computed"),
    })
}
