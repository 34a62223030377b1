//! Google Benchmark's JSON: `benchmarks`, each entry one repetition's mean
//! time of an iteration, or an aggregate over repetitions
//! (<https://github.com/google/benchmark/blob/main/docs/user_guide.md#output-formats>).
//!
//! Before v1.5 an entry says only by its name that it is an aggregate (`copy_mean`), and a user counter may
//! have the name of any field.

use super::json::{JsonSource, NotATime, Object, Time};
use super::{FigureFound, ImportFault, ImportedFile, MAX_SAMPLES, Measured, slug};
use model::phrases::cut;
use std::collections::{HashMap, HashSet};

/// What tells one benchmark from another of the same name.
type Key = (String, Option<u64>, Option<u64>);

/// What is gathered of one benchmark.
#[derive(Default)]
struct Benchmark {
    samples: Vec<(u64, f64)>,
    repetitions_seen: HashSet<u64>,
    aggregates: HashMap<String, Time>,
    repetitions: u64,
    failed: Option<String>,
    label: Option<String>,
}

pub(super) fn read_google_benchmark(source: &JsonSource) -> Result<ImportedFile, ImportFault> {
    let file = source.object()?;
    let entries = file.objects("benchmarks", MAX_SAMPLES)?;
    let entries: Vec<Object> = entries.into_iter().map(|one| one.called("name")).collect();
    let names = Names::from_entries(&entries);
    let mut order: Vec<(Key, Benchmark)> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    for entry in &entries {
        let name = entry.needed_text("name")?;
        let aggregate = names.aggregate(entry, &name);
        if matches!(aggregate.as_deref(), Some("BigO" | "RMS")) {
            // A fit of complexity is over several benchmarks, and has no time.
            continue;
        }
        let base = aggregate.as_ref().and_then(|what| base(&name, what));
        let name = entry.text_field("run_name").or(base.map(str::to_owned)).unwrap_or(name);
        let indices = ["family_index", "per_family_instance_index"].map(|key| entry.whole(key));
        let key = (name, indices[0], indices[1]);
        let known = places.get(&key).copied();
        let at = match known.filter(|&at| !order[at].1.is_over(entry, aggregate.as_deref())) {
            Some(at) => at,
            None => {
                order.push((key.clone(), Benchmark::default()));
                places.insert(key, order.len() - 1);
                order.len() - 1
            }
        };
        order[at].1.take_entry(entry, aggregate)?;
    }
    let mut found = ImportedFile::default();
    for ((name, ..), benchmark) in order {
        found.rows.push(benchmark.measured(name));
    }
    if let Some(context) = file.object("context") {
        describe(&mut found, &context);
    }
    Ok(found)
}

/// Aggregates that old versions mark by the ends of their names.
const BY_NAME: [&str; 6] = ["mean", "median", "stddev", "cv", "BigO", "RMS"];

/// The benchmark of an aggregate's name.
fn base<'n>(name: &'n str, aggregate: &str) -> Option<&'n str> {
    name.strip_suffix(aggregate)?.strip_suffix('_')
}

struct Names(HashSet<String>);

impl Names {
    fn from_entries(entries: &[Object]) -> Names {
        Names(entries.iter().filter_map(|entry| entry.text_field("name")).collect())
    }

    /// Of what kind an aggregate is; `None` for a repetition.
    fn aggregate(&self, entry: &Object, name: &str) -> Option<String> {
        let run_type = entry.text_field("run_type");
        if run_type.as_deref() == Some("iteration") {
            return None;
        }
        let given = entry.text_field("aggregate_name");
        let named = || BY_NAME.into_iter().find(|what| base(name, what).is_some());
        match given.or_else(|| named().map(str::to_owned)) {
            Some(what) if run_type.is_some() || entry.has("aggregate_name") => Some(what),
            Some(what) if self.is_aggregate(name, &what) => Some(what),
            None if run_type.as_deref() == Some("aggregate") => Some(String::new()),
            _ => None,
        }
    }

    /// Whether a name that ends like an aggregate's is one: its benchmark is in the file, or further
    /// aggregates of it. A benchmark may well be called `compute_mean`.
    fn is_aggregate(&self, name: &str, what: &str) -> bool {
        let Some(base) = base(name, what) else {
            return false;
        };
        let others = BY_NAME.into_iter().filter(|other| *other != what);
        matches!(what, "BigO" | "RMS")
            || self.0.contains(base)
            || others.map(|other| format!("{base}_{other}")).any(|other| self.0.contains(&other))
    }
}

/// ns of an entry's unit.
fn ns_per_unit(entry: &Object) -> Result<f64, ImportFault> {
    match entry.text_field("time_unit").as_deref() {
        None | Some("ns") => Ok(1.0),
        Some("us") => Ok(1e3),
        Some("ms") => Ok(1e6),
        Some("s") => Ok(1e9),
        Some(other) => {
            let reason = format!("{:?} is not one of ns, us, ms, s", cut(other));
            Err(entry.fault("time_unit", reason))
        }
    }
}

/// Why an entry has no time: it was skipped or failed.
fn failure(entry: &Object) -> Option<String> {
    let text = |key| entry.text_field(key).filter(|text| !text.is_empty());
    let message = text("error_message").or_else(|| text("skip_message"));
    if entry.is_true("error_occurred") {
        return Some(message.unwrap_or("it failed without a message".into()));
    }
    let skipped = entry.is_true("skipped") || text("skipped").is_some();
    skipped.then(|| match message {
        Some(message) => format!("skipped: {message}"),
        None => "skipped without a message".into(),
    })
}

impl Benchmark {
    /// Whether an entry of the same name begins another one: some programs register a benchmark twice, and
    /// old versions number nothing.
    fn is_over(&self, entry: &Object, aggregate: Option<&str>) -> bool {
        match (aggregate, entry.whole("repetition_index")) {
            (Some(what), _) => self.aggregates.contains_key(what),
            (None, Some(index)) => self.repetitions_seen.contains(&index),
            (None, None) => !self.aggregates.is_empty(),
        }
    }

    fn take_entry(&mut self, entry: &Object, aggregate: Option<String>) -> Result<(), ImportFault> {
        self.repetitions = self.repetitions.max(entry.whole("repetitions").unwrap_or(1));
        self.label = entry.text_field("label").or(self.label.take());
        if let Some(why) = failure(entry) {
            self.failed = Some(why);
            return Ok(());
        }
        match aggregate.as_deref() {
            None => {}
            // Others are shares, counts, or what users made.
            Some("mean" | "median" | "stddev") => {
                let time = self.real_time(entry)?;
                self.aggregates.insert(aggregate.unwrap_or_default(), time);
                return Ok(());
            }
            Some(other) => {
                let word = Err(NotATime::from_word(other, "not a time"));
                self.aggregates.insert(other.to_owned(), word);
                return Ok(());
            }
        }
        self.repetitions_seen.extend(entry.whole("repetition_index"));
        let iterations = match entry.needed_whole("iterations")? {
            Some(0) => return Err(entry.fault("iterations", "a time of no iterations")),
            n => n.unwrap_or(1),
        };
        match self.real_time(entry)? {
            Ok(ns) if ns * iterations as f64 > 1e18 => {
                let reason =
                    format!("{iterations} iterations of this time take more than 30 years");
                return Err(entry.fault("iterations", reason));
            }
            Ok(ns) => self.samples.push((iterations, ns * iterations as f64)),
            Err(why) => self.failed = Some(why.to_string()),
        }
        Ok(())
    }

    fn real_time(&self, entry: &Object) -> Result<Time, ImportFault> {
        let time = entry.time("real_time", ns_per_unit(entry)?)?;
        time.ok_or_else(|| entry.missing_field("real_time"))
    }

    fn measured(mut self, name: String) -> Measured {
        let repetitions = self.repetitions;
        let stddev = self.aggregates.remove("stddev");
        let aggregate = ["median", "mean"]
            .into_iter()
            .find_map(|what| Some((self.aggregates.remove(what)?, what)));
        let figure = match (self.failed, self.samples, aggregate) {
            (Some(why), ..) => FigureFound::Failed(format!("Google Benchmark: {why}")),
            (None, samples, _) if !samples.is_empty() => FigureFound::Samples(samples),
            (None, _, Some((time, what))) => {
                let of = match repetitions {
                    // Old versions don't say how many.
                    0 | 1 => what.to_owned(),
                    n => format!("{what} of {n} repetitions"),
                };
                let what = match stddev {
                    Some(Ok(stddev)) => format!(
                        "{of}, with a standard deviation of {}",
                        model::figure::time(stddev)
                    ),
                    _ => of,
                };
                FigureFound::aggregate(time, what, "Google Benchmark")
            }
            (None, ..) => FigureFound::Failed("the file holds no time of it".into()),
        };
        let mut notes = vec![format!("benchmark: {name}, real time")];
        if let Some(label) = self.label.filter(|label| !label.is_empty()) {
            notes.push(format!("label: {label}"));
        }
        Measured { slug: slug::slug_path(&name), name, number: None, figure, notes }
    }
}

fn describe(found: &mut ImportedFile, context: &Object) {
    let text = |key| context.text_field(key).filter(|text| !text.is_empty());
    found.measured_at = text("date");
    found.host_name = text("host_name");
    found.version = text("library_version");
    found.load_average = context
        .times_field("load_avg", 1.0, 16)
        .ok()
        .flatten()
        .and_then(|load| load.into_iter().collect::<Result<Vec<f64>, _>>().ok())
        .and_then(|load| <[f64; 3]>::try_from(load).ok());
    let mut facts = Vec::new();
    if let Some(executable) = text("executable") {
        facts.push(format!("executable {executable}"));
    }
    if let Some(n) = context.whole("num_cpus") {
        facts.push(format!("{n} CPUs"));
    }
    if let Some(mhz) = context.whole("mhz_per_cpu") {
        facts.push(format!("{mhz} MHz"));
    }
    match context.flag("cpu_scaling_enabled") {
        Some(true) => facts.push("CPU frequency scaling was on: times are noisy".into()),
        Some(false) => facts.push("CPU frequency scaling off or not visible".into()),
        None => {}
    }
    if text("library_build_type").as_deref() == Some("debug") {
        facts.push("the library was a debug build".into());
    }
    if !facts.is_empty() {
        found.remarks.push(format!("the file says: {}", facts.join(", ")));
    }
    for (what, key) in [("partial", "latlas_partial"), ("emulated", "latlas_emulated")] {
        found.remarks.extend(text(key).map(|why| format!("the exported run was {what}: {why}")));
    }
}
