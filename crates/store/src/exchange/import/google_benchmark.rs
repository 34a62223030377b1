//! Google Benchmark's JSON: `benchmarks`, each entry one repetition's mean
//! time of an iteration, or an aggregate over repetitions
//! (<https://github.com/google/benchmark/blob/main/docs/user_guide.md#output-formats>).

use super::fields::{self, Amount, AtMost, Name};
use super::{Fault, FigureFound, Found, MAX_SAMPLES, Measured, UnfitValue, slug};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

#[derive(Deserialize)]
struct File<'t> {
    context: Option<Context>,
    #[serde(borrow)]
    benchmarks: AtMost<&'t RawValue, MAX_SAMPLES>,
}

#[derive(Deserialize)]
struct Context {
    date: Option<Name>,
    host_name: Option<Name>,
    executable: Option<Name>,
    num_cpus: Option<u64>,
    mhz_per_cpu: Option<i64>,
    cpu_scaling_enabled: Option<bool>,
    load_avg: Option<AtMost<Amount, 16>>,
    library_version: Option<Name>,
    library_build_type: Option<Name>,
    latlas_partial: Option<Name>,
    latlas_emulated: Option<Name>,
}

#[derive(Deserialize)]
struct Entry {
    name: Name,
    run_name: Option<Name>,
    run_type: Option<Name>,
    family_index: Option<u64>,
    per_family_instance_index: Option<u64>,
    repetitions: Option<u64>,
    repetition_index: Option<u64>,
    aggregate_name: Option<Name>,
    iterations: Option<u64>,
    real_time: Option<Amount>,
    time_unit: Option<Name>,
    error_occurred: Option<bool>,
    error_message: Option<Name>,
    skipped: Option<Name>,
    skip_message: Option<Name>,
    label: Option<Name>,
}

/// What tells one benchmark from another of the same name.
type Key = (String, Option<u64>, Option<u64>);

/// What is gathered of one benchmark.
#[derive(Default)]
struct Benchmark {
    samples: Vec<(u64, f64)>,
    indices: Vec<u64>,
    mean: Option<f64>,
    median: Option<f64>,
    stddev: Option<f64>,
    repetitions: u64,
    failed: Option<String>,
    label: Option<String>,
}

/// Reads the file.
pub(super) fn read(text: &str) -> Result<Found, Fault> {
    let file: File = fields::parse(text)?;
    let mut order: Vec<(Key, Benchmark)> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    for raw in &file.benchmarks.0 {
        let entry: Entry = fields::part(text, raw)?;
        let name = entry.run_name.as_ref().unwrap_or(&entry.name).0.clone();
        let key = (name, entry.family_index, entry.per_family_instance_index);
        if entry.is_fit() {
            continue;
        }
        let at = *places.entry(key.clone()).or_insert_with(|| {
            order.push((key, Benchmark::default()));
            order.len() - 1
        });
        let taken = order[at].1.take(entry);
        taken.map_err(|reason| Fault::at(fields::place_of(text, raw), reason))?;
    }
    let mut found = Found::default();
    for ((name, ..), benchmark) in order {
        found.rows.push(benchmark.measured(name));
    }
    if let Some(context) = file.context {
        describe(&mut found, context);
    }
    Ok(found)
}

impl Entry {
    /// A fit of complexity (`_BigO`, `_RMS`) is over several benchmarks and
    /// has no time.
    fn is_fit(&self) -> bool {
        let aggregate = self.aggregate_name.as_ref().map(|name| name.0.as_str());
        matches!(aggregate, Some("BigO" | "RMS"))
    }

    fn is_aggregate(&self) -> bool {
        self.aggregate_name.is_some() || self.run_type.as_ref().is_some_and(|t| t.0 == "aggregate")
    }

    fn ns(&self) -> Result<f64, UnfitEntry> {
        let per_unit = match self.time_unit.as_ref().map(|unit| unit.0.as_str()) {
            None | Some("ns") => 1.0,
            Some("us") => 1e3,
            Some("ms") => 1e6,
            Some("s") => 1e9,
            Some(other) => return Err(UnfitEntry::TimeUnit(other.to_owned())),
        };
        let time = self.real_time.ok_or(UnfitEntry::NoTime)?;
        Ok(fields::ns(time, per_unit)?)
    }
}

/// Why an entry can't be taken.
#[derive(thiserror::Error, Debug, PartialEq)]
enum UnfitEntry {
    #[error("the time unit {0:?} is none of ns us ms s")]
    TimeUnit(String),
    #[error("a benchmark without real_time")]
    NoTime,
    #[error("{0:?} comes twice")]
    Twice(String),
    #[error("repetition {index} of {name:?} comes twice")]
    RepetitionTwice { index: u64, name: String },
    #[error("a time of no iterations")]
    NoIterations,
    #[error("{0} iterations of that time take longer than 30 years")]
    TooLong(u64),
    #[error(transparent)]
    Value(#[from] UnfitValue),
}

impl Benchmark {
    fn take(&mut self, entry: Entry) -> Result<(), UnfitEntry> {
        self.repetitions = self.repetitions.max(entry.repetitions.unwrap_or(1));
        if let Some(label) = &entry.label {
            self.label = Some(label.0.clone());
        }
        if entry.error_occurred == Some(true) || entry.skipped.is_some() {
            let message = entry.error_message.or(entry.skip_message);
            self.failed = Some(match message.map(|m| m.0) {
                Some(message) if !message.is_empty() => message,
                _ => "it failed and did not say why".into(),
            });
            return Ok(());
        }
        if entry.is_aggregate() {
            let aggregate = entry.aggregate_name.as_ref().map(|name| name.0.clone());
            let place = match aggregate.as_deref() {
                Some("mean") => &mut self.mean,
                Some("median") => &mut self.median,
                Some("stddev") => &mut self.stddev,
                // cv is a share; users add others.
                _ => return Ok(()),
            };
            if place.is_some() {
                return Err(UnfitEntry::Twice(entry.name.0));
            }
            *place = Some(entry.ns()?);
            return Ok(());
        }
        let index = entry.repetition_index;
        if let Some(index) = index {
            // They come in rising order: the last one is enough to look at,
            // but for a file that somebody made.
            let again = match self.indices.last() {
                Some(&last) if last < index => false,
                _ => self.indices.contains(&index),
            };
            if again {
                let name = entry.name.0;
                return Err(UnfitEntry::RepetitionTwice { index, name });
            }
            self.indices.push(index);
        }
        let iterations = match entry.iterations {
            Some(0) => return Err(UnfitEntry::NoIterations),
            Some(n) => n,
            None => 1,
        };
        let whole = entry.ns()? * iterations as f64;
        if whole > 1e18 {
            return Err(UnfitEntry::TooLong(iterations));
        }
        self.samples.push((iterations, whole));
        Ok(())
    }

    fn measured(self, name: String) -> Measured {
        let repetitions = self.repetitions;
        let aggregate = [(self.median, "median"), (self.mean, "mean")]
            .into_iter()
            .find_map(|(ns, what)| Some((ns?, what)));
        let figure = match (self.failed, self.samples, aggregate) {
            (Some(why), ..) => FigureFound::Failed(format!("Google Benchmark: {why}")),
            (None, samples, _) if !samples.is_empty() => FigureFound::Samples(samples),
            (None, _, Some((ns, what))) => FigureFound::Aggregate {
                ns,
                what: match self.stddev {
                    Some(stddev) => format!(
                        "{what} of {repetitions} repetitions, with a standard deviation of {}",
                        model::figure::time(stddev)
                    ),
                    None => format!("{what} of {repetitions} repetitions"),
                },
            },
            (None, ..) => FigureFound::Failed("the file holds no time of it".into()),
        };
        let mut notes = vec![format!("benchmark: {name}, real time")];
        if let Some(label) = self.label.filter(|label| !label.is_empty()) {
            notes.push(format!("label: {label}"));
        }
        Measured {
            slug: slug::path(&name),
            name,
            figure,
            notes,
        }
    }
}

fn describe(found: &mut Found, context: Context) {
    let text = |name: Option<Name>| name.map(|name| name.0).filter(|text| !text.is_empty());
    found.measured_at = text(context.date);
    found.host_name = text(context.host_name);
    found.version = text(context.library_version);
    found.load_average = context
        .load_avg
        .and_then(|load| <[Amount; 3]>::try_from(load.0).ok())
        .map(|load| load.map(|l| l.0));
    let mut facts = Vec::new();
    if let Some(executable) = text(context.executable) {
        facts.push(format!("executable {executable}"));
    }
    if let Some(n) = context.num_cpus {
        facts.push(format!("{n} CPUs"));
    }
    if let Some(mhz) = context.mhz_per_cpu {
        facts.push(format!("{mhz} MHz"));
    }
    match context.cpu_scaling_enabled {
        Some(true) => facts.push("CPU frequency scaling was on: times are noisy".into()),
        Some(false) => facts.push("CPU frequency scaling off or not visible".into()),
        None => {}
    }
    if text(context.library_build_type).as_deref() == Some("debug") {
        facts.push("the library was a debug build".into());
    }
    if !facts.is_empty() {
        found
            .remarks
            .push(format!("the file says: {}", facts.join(", ")));
    }
    for (what, why) in [
        ("partial", context.latlas_partial),
        ("emulated", context.latlas_emulated),
    ] {
        found
            .remarks
            .extend(text(why).map(|why| format!("the exported run was {what}: {why}")));
    }
}
