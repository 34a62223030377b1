//! criterion's own files: `benchmark.json` names a benchmark, `sample.json`
//! has the iterations and the time (ns) of each of its samples,
//! `estimates.json` what criterion made of them
//! (<https://docs.rs/criterion>, written below `target/criterion`); and the messages of
//! `cargo criterion --message-format=json`, which have the same.

use super::files::{CriterionFolder, InputPart};
use super::json::{JsonSource, Object, Time};
use super::{
    FigureFound, ImportError, ImportFault, ImportedFile, InputFormat, MAX_SAMPLES, Measured,
    file_checks, slug,
};

pub(super) fn read_criterion(benchmarks: &[CriterionFolder]) -> Result<ImportedFile, ImportError> {
    let mut found = ImportedFile::default();
    for benchmark in benchmarks {
        found.rows.push(measured_benchmark(benchmark)?);
    }
    Ok(found)
}

/// The message of a benchmark that is done.
pub(super) const COMPLETE: &str = "benchmark-complete";

/// Reads the messages of cargo-criterion, one a line; those of cargo may be among them.
pub(super) fn messages(source: &JsonSource) -> Result<ImportedFile, ImportFault> {
    let mut found = ImportedFile::default();
    for message in source.objects() {
        let message = message?;
        if message.text_field("reason").as_deref() == Some(COMPLETE) {
            found.rows.push(of_message(&message.called("id"))?);
        }
    }
    match found.rows.is_empty() {
        true => Err(ImportFault::of_file(
            "criterion's results are directories: give target/criterion, a benchmark's own \
             new/sample.json, or the messages of `cargo criterion --message-format=json`",
        )),
        false => Ok(found),
    }
}

fn of_message(message: &Object) -> Result<Measured, ImportFault> {
    let name = message.needed_text("id")?;
    let mut notes = vec![format!("benchmark: {name}")];
    for throughput in message.objects("throughput", 16).unwrap_or_default() {
        let (n, unit) = (throughput.whole("per_iteration"), throughput.text_field("unit"));
        notes.extend(n.zip(unit).map(|(n, unit)| processes(n, &unit)));
    }
    let figure = match message.text_field("unit").as_deref() {
        Some("ns") | None if message.has("measured_values") => {
            samples(message, "iteration_count", "measured_values")?
        }
        Some("ns") | None => {
            let estimate = |key| message.object(key);
            aggregate([estimate("median"), estimate("mean")], "estimate")?
                .ok_or_else(|| message.missing_field("measured_values"))?
        }
        // Of a measurement that a crate brings along.
        Some(unit) => FigureFound::Failed(format!("criterion: it measured {unit}, not time")),
    };
    Ok(Measured { slug: slug::slug_path(&name), name, number: None, figure, notes })
}

fn processes(n: u64, unit: &str) -> String {
    format!("an iteration processes: {n} {unit}")
}

/// The text of one of the files, if it is there.
fn part(part: Option<&InputPart>) -> Result<Option<JsonSource<'_>>, ImportError> {
    let Some(part) = part else {
        return Ok(None);
    };
    file_checks::json(&part.bytes)
        .map(|text| Some(JsonSource::new(InputFormat::Criterion, text)))
        .map_err(|fault| fault.in_file(&part.name))
}

/// What a reader makes of one of the files, if it is there.
fn of_part<T>(
    file: Option<&InputPart>,
    read: impl FnOnce(&JsonSource) -> Result<T, ImportFault>,
) -> Result<Option<T>, ImportError> {
    let source = part(file)?;
    let read = source.as_ref().map(read).transpose();
    read.map_err(|fault| fault.in_file(file.map_or("", |part| &part.name)))
}

/// What `benchmark.json` says.
struct Id {
    name: String,
    /// Which of several benchmarks with this id, from the title `group/one #2`.
    number: Option<u32>,
    throughput: Vec<String>,
}

fn benchmark_id(source: &JsonSource) -> Result<Id, ImportFault> {
    let id = source.object()?;
    let parts = [
        Some(id.needed_text("group_id")?),
        id.text_field("function_id"),
        id.text_field("value_str"),
    ];
    let title = id.text_field("title").unwrap_or_default();
    let number = title.rsplit_once(" #").and_then(|(_, n)| n.parse().ok());
    let throughput = id.object("throughput").map_or(Vec::new(), |amounts| {
        let name = |key: &str| match key {
            "BytesDecimal" => "bytes".to_owned(),
            other => other.to_lowercase(),
        };
        let amount = |key: &str| Some(processes(amounts.whole(key)?, &name(key)));
        amounts.names().take(4).filter_map(amount).collect()
    });
    Ok(Id {
        name: parts.into_iter().flatten().collect::<Vec<_>>().join("/"),
        number: number.filter(|&n| n > 1),
        throughput,
    })
}

fn measured_benchmark(benchmark: &CriterionFolder) -> Result<Measured, ImportError> {
    let id = of_part(benchmark.id.as_ref(), benchmark_id)?.unwrap_or_else(|| Id {
        // The directory has its name, as far as a file system can hold it.
        name: benchmark.fallback_name.clone(),
        number: None,
        throughput: Vec::new(),
    });
    let mut notes = vec![format!("benchmark: {}", id.name)];
    notes.extend(id.throughput);
    let sampled = of_part(benchmark.sample.as_ref(), |source| {
        // Before 0.3 the two lists without their names.
        let sample = match source.list_as(&["iters", "times"])? {
            Some(sample) => sample,
            None => source.object()?,
        };
        let mode = sample.text_field("sampling_mode");
        Ok((samples(&sample, "iters", "times")?, mode))
    })?;
    let figure = match sampled {
        Some((figure, mode)) => {
            notes.extend(mode.map(|mode| format!("criterion's sampling: {mode}")));
            Some(figure)
        }
        None => of_part(benchmark.estimates.as_ref(), |source| {
            let all = source.object()?;
            // Before 0.3 with capitals.
            let of = |key, old| all.object(key).or_else(|| all.object(old));
            let estimates = [of("median", "Median"), of("mean", "Mean")];
            aggregate(estimates, "point_estimate")?
                .ok_or_else(|| all.fault_of_it("it has neither a median nor a mean"))
        })?,
    };
    let none = || {
        let reason = "there is neither sample.json nor estimates.json";
        ImportFault::of_file(reason).in_file(&benchmark.directory)
    };
    Ok(Measured {
        slug: slug::slug_path(&id.name),
        name: id.name,
        number: id.number,
        figure: figure.ok_or_else(none)?,
        notes,
    })
}

/// Samples of two lists of the same length.
fn samples(of: &Object, iterations: &str, times: &str) -> Result<FigureFound, ImportFault> {
    let counts = of.wholes(iterations, MAX_SAMPLES)?.ok_or_else(|| of.missing_field(iterations))?;
    let all = of.times_field(times, 1.0, MAX_SAMPLES)?.ok_or_else(|| of.missing_field(times))?;
    if counts.len() != all.len() {
        let (n, m) = (counts.len(), all.len());
        return Err(of.fault_of_it(format!("{n} {iterations} and {m} {times}")));
    }
    if counts.is_empty() {
        return Err(of.fault(times, "it holds no sample"));
    }
    let samples = counts.into_iter().zip(all).map(|(n, time)| Ok((n, time?)));
    Ok(FigureFound::from_samples(samples.collect(), "criterion"))
}

/// The median, or else the mean, that criterion computed.
fn aggregate(
    estimates: [Option<Object>; 2],
    key: &str,
) -> Result<Option<FigureFound>, ImportFault> {
    for (estimate, what) in estimates.into_iter().zip(["median", "mean"]) {
        let time: Option<Time> = match estimate {
            Some(estimate) => estimate.time(key, 1.0)?,
            None => None,
        };
        if let Some(time) = time {
            let what = format!("{what} that criterion computed");
            return Ok(Some(FigureFound::aggregate(time, what, "criterion")));
        }
    }
    Ok(None)
}
