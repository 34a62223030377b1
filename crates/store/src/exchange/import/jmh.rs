//! What JMH writes with `-rf json`: a list of benchmarks, each with a `primaryMetric`, whose `rawData` has a list of
//! iterations for each fork, or with `-bm sample` a histogram of single calls
//! (<https://github.com/openjdk/jmh>, org.openjdk.jmh.results.format.JSONResultFormat).

use super::json::{JsonSource, NotATime, Object};
use super::{FigureFound, ImportFault, ImportedFile, MAX_ROWS, MAX_SAMPLES, Measured, Time, slug};
use model::phrases::cut;

const TOOL: &str = "JMH";

pub(super) fn read_jmh(source: &JsonSource) -> Result<ImportedFile, ImportFault> {
    let mut found = ImportedFile::default();
    for entry in source.list(MAX_ROWS)? {
        found.version = found.version.or(entry.text_field("jmhVersion"));
        let machine = ["vmName", "vmVersion"].map(|key| entry.text_field(key));
        let machine: Vec<String> = machine.into_iter().flatten().collect();
        let remark = format!("the file says: {}", machine.join(" "));
        if !machine.is_empty() && !found.remarks.contains(&remark) {
            found.remarks.push(remark);
        }
        found.rows.push(read_entry(&entry.called("benchmark"))?);
    }
    Ok(found)
}

fn read_entry(entry: &Object) -> Result<Measured, ImportFault> {
    let mut name = entry.needed_text("benchmark")?;
    if let Some(all) = entry.object("params") {
        let value = |key: &str| Some(format!("{key}={}", all.text_field(key)?));
        let values: Vec<String> = all.names().filter_map(value).collect();
        if !values.is_empty() {
            name = format!("{name}:{}", values.join(","));
        }
    }
    let mode = entry.text_field("mode").unwrap_or("avgt".into());
    // Of one benchmark in several modes, each is a row.
    if mode != "avgt" {
        name = format!("{name}/{mode}");
    }
    let metric =
        entry.object("primaryMetric").ok_or_else(|| entry.missing_field("primaryMetric"))?;
    let figure = match Score::from_unit(&metric.needed_text("scoreUnit")?) {
        Some(score) => score.figure(&metric)?,
        None => {
            let unit = metric.text_field("scoreUnit").unwrap_or_default();
            FigureFound::Failed(format!("JMH: it measured {}, not time", cut(&unit)))
        }
    };
    let mut notes = vec![format!("benchmark: {name}")];
    let counts = ["forks", "threads"].map(|key| Some(format!("{key} {}", entry.whole(key)?)));
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    notes.extend((!counts.is_empty()).then(|| counts.join(", ")));
    Ok(Measured { slug: slug::slug_path(&name), name, number: None, figure, notes })
}

/// What a score is.
#[derive(Clone, Copy)]
enum Score {
    /// A time of so many ns.
    Times(f64),
    /// Calls in so many ns.
    CallsIn(f64),
}

impl Score {
    /// `ns/op`, `ops/us`.
    fn from_unit(unit: &str) -> Option<Score> {
        let ns = |unit: &str| {
            let ns = match unit {
                "ns" => 1.0,
                "us" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                "min" => 60e9,
                "hr" => 3600e9,
                "day" => 86_400e9,
                _ => return None,
            };
            Some(ns)
        };
        match unit.split_once('/')? {
            (time, "op") => ns(time).map(Score::Times),
            ("ops", time) => ns(time).map(Score::CallsIn),
            _ => None,
        }
    }

    fn figure(self, metric: &Object) -> Result<FigureFound, ImportFault> {
        let read = |key| metric.flat_times(key, self.ns_per_unit(), MAX_SAMPLES);
        if let Some(values) = read("rawDataHistogram")? {
            return self.histogram(metric, &values);
        }
        let samples = read("rawData")?.unwrap_or_default();
        if samples.is_empty() {
            let score = metric.time("score", self.ns_per_unit())?;
            let score = score.ok_or_else(|| metric.missing_field("score"))?;
            return Ok(FigureFound::aggregate(self.call_time(score), "score".into(), TOOL));
        }
        let samples = samples.into_iter().map(|value| Ok((1, self.call_time(value)?)));
        Ok(FigureFound::from_samples(samples.collect(), TOOL))
    }

    /// Pairs of a time and how often it came.
    fn histogram(self, metric: &Object, pairs: &[Time]) -> Result<FigureFound, ImportFault> {
        const KEY: &str = "rawDataHistogram";
        let mut samples = Vec::new();
        for pair in pairs.chunks(2) {
            let [Ok(value), Ok(count)] = pair else {
                return Err(metric.fault(KEY, "pairs of a time and a count are needed"));
            };
            let count = count / self.ns_per_unit();
            if count.fract() != 0.0 || samples.len() as f64 + count > MAX_SAMPLES as f64 {
                let reason = format!("a count of {count}, or more than {MAX_SAMPLES} samples");
                return Err(metric.fault(KEY, reason));
            }
            samples.extend(std::iter::repeat_n((1, *value), count as usize));
        }
        Ok(FigureFound::Samples(samples))
    }

    fn ns_per_unit(self) -> f64 {
        match self {
            Score::Times(ns) => ns,
            Score::CallsIn(_) => 1.0,
        }
    }

    fn call_time(self, value: Time) -> Time {
        match self {
            Score::Times(_) => value,
            Score::CallsIn(ns) => match value? {
                0.0 => Err(NotATime::from_word("rawData", "0 operations")),
                calls => Ok(ns / calls),
            },
        }
    }
}
