//! Google Benchmark's JSON, so that its `compare.py` reads it
//! (<https://github.com/google/benchmark/blob/main/docs/tools.md>).
//!
//! A repetition is one worker process's median, as each of their repetitions
//! is one mean; mean, median, stddev and cv are computed from them as theirs.

use super::line::{BELOW_ZERO, ExportLine, program, started};
use super::{Written, each, pretty};
use model::machine::CacheKind;
use model::run::Run;
use model::stats;
use model::unit::Unit;
use serde::Serialize;

/// Why there is a `cpu_time` in the file.
const CPU_TIME: &str = "not measured: cpu_time repeats real_time, because readers of this format \
                        need both";

#[derive(Serialize)]
struct GoogleBenchmarkFile<'r> {
    context: BenchmarkContext,
    benchmarks: Vec<Benchmark<'r>>,
}

#[derive(Serialize)]
struct BenchmarkContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_name: Option<String>,
    executable: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_cpus: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mhz_per_cpu: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    caches: Vec<Cache>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_avg: Option<[f64; 3]>,
    latlas_run: String,
    latlas_cpu_time: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    latlas_partial: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latlas_emulated: Option<String>,
}

#[derive(Serialize)]
struct Cache {
    #[serde(rename = "type")]
    kind: &'static str,
    level: u32,
    size: u64,
    num_sharing: usize,
}

#[derive(Serialize, Clone)]
struct Benchmark<'r> {
    name: String,
    family_index: usize,
    per_family_instance_index: usize,
    run_name: String,
    run_type: &'static str,
    repetitions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition_index: Option<usize>,
    threads: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_occurred: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
    #[serde(flatten)]
    times: Option<Times>,
    /// Their field for words beside a result: our verdict.
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    latlas_row: &'r str,
    latlas_verdict: &'static str,
}

#[derive(Serialize, Clone, Copy)]
struct Times {
    iterations: u64,
    real_time: f64,
    cpu_time: f64,
    time_unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_second: Option<f64>,
}

/// The file, and what it has no place for.
pub(super) fn to_google_benchmark(run: &Run, lines: &[ExportLine]) -> Written {
    let mut family = (0, 0, "");
    let (benchmarks, left_out) = each(lines, |line| {
        line.must_be_a_time()?;
        family = match family {
            (index, instance, id) if id == line.row.id => (index, instance + 1, id),
            (_, _, "") => (0, 0, &line.row.id),
            (index, ..) => (index + 1, 0, &line.row.id),
        };
        let times_ns = match line.figure_ns() {
            Some((figure_ns, _)) => line.repetitions_or(run, figure_ns),
            None => Vec::new(),
        };
        if line.estimate.is_ok() && times_ns.is_empty() {
            return Err(line.left_out());
        }
        if times_ns.iter().any(|&ns| ns < 0.0) {
            return Err(line.left_out_because(BELOW_ZERO.into()));
        }
        Ok(of_line(line, times_ns, (family.0, family.1)))
    });
    let document = GoogleBenchmarkFile {
        context: context(run),
        benchmarks: benchmarks.into_iter().flatten().collect(),
    };
    pretty(&document, left_out)
}

fn context(run: &Run) -> BenchmarkContext {
    let caches = run.machine.caches.get().into_iter().flatten();
    BenchmarkContext {
        date: started(run),
        host_name: run.machine.hostname.get().cloned(),
        executable: program(run),
        num_cpus: run.machine.online_cpus.get().map(Vec::len),
        mhz_per_cpu: run
            .core_clock
            .as_ref()
            .map(|clock| (1e3 / clock.cycle_ns.value).round() as i64),
        caches: caches
            .filter_map(|cache| {
                Some(Cache {
                    kind: match cache.kind {
                        CacheKind::Data => "Data",
                        CacheKind::Instruction => "Instruction",
                        CacheKind::Unified => "Unified",
                    },
                    level: cache.level,
                    size: cache.size_bytes?,
                    num_sharing: cache.shared_cpus.len(),
                })
            })
            .collect(),
        load_avg: run.conditions.before.load_average,
        latlas_run: run.id.clone(),
        latlas_cpu_time: CPU_TIME,
        latlas_partial: run.partial.clone(),
        latlas_emulated: run.program.emulated.clone(),
    }
}

/// The entries of a figure; of a row that is not available, which has no
/// times, the one that says so.
fn of_line<'r>(
    line: &'r ExportLine,
    times_ns: Vec<f64>,
    family: (usize, usize),
) -> Vec<Benchmark<'r>> {
    let name = line.unique_name();
    let label = match (line.is_ok(), line.reason()) {
        (true, _) => String::new(),
        (false, reason) if reason.is_empty() => line.verdict_text().to_owned(),
        (false, reason) => format!("{}: {reason}", line.verdict_text()),
    };
    let n = times_ns.len();
    let blank = Benchmark {
        name: name.clone(),
        family_index: family.0,
        per_family_instance_index: family.1,
        run_name: name.clone(),
        run_type: "iteration",
        repetitions: n.max(1),
        repetition_index: None,
        threads: 1,
        aggregate_name: None,
        aggregate_unit: None,
        error_occurred: None,
        error_message: None,
        times: None,
        label,
        latlas_row: &line.row.id,
        latlas_verdict: line.verdict_text(),
    };
    if times_ns.is_empty() {
        // Under a name of its own: compare.py takes it for granted that two
        // entries of one name both have times. As an aggregate: its mean over
        // all takes it for granted that every other entry has one.
        return vec![Benchmark {
            run_type: "aggregate",
            name: format!("{name} [not available]"),
            run_name: format!("{name} [not available]"),
            repetition_index: Some(0),
            error_occurred: Some(true),
            error_message: Some(line.reason()),
            label: String::new(),
            ..blank
        }];
    }
    let times = |value: f64, iterations: usize| Times {
        iterations: iterations as u64,
        real_time: value,
        cpu_time: value,
        time_unit: "ns",
        bytes_per_second: None,
    };
    let with_speed = |times: Times| Times {
        bytes_per_second: match line.row.unit {
            Unit::Bandwidth { bytes_per_op } if times.real_time > 0.0 => {
                Some(bytes_per_op / times.real_time * 1e9)
            }
            _ => None,
        },
        ..times
    };
    let repetitions = times_ns.iter().enumerate().map(|(index, &ns)| Benchmark {
        repetition_index: Some(index),
        times: Some(with_speed(times(ns, 1))),
        ..blank.clone()
    });
    let [mean, deviation] = [stats::mean(&times_ns), stats::standard_deviation(&times_ns)];
    let cv = mean.filter(|&mean| mean > 0.0).zip(deviation);
    let aggregates = [
        ("mean", "time", mean.map(|ns| with_speed(times(ns, n)))),
        (
            "median",
            "time",
            stats::median(times_ns.iter().copied()).map(|ns| with_speed(times(ns, n))),
        ),
        ("stddev", "time", deviation.map(|ns| times(ns, n))),
        ("cv", "percentage", cv.map(|(mean, deviation)| times(deviation / mean, n))),
    ];
    let aggregates = aggregates.into_iter().filter(|(.., times)| n > 1 && times.is_some());
    let aggregates = aggregates.map(|(aggregate, unit, times)| Benchmark {
        name: format!("{name}_{aggregate}"),
        run_type: "aggregate",
        aggregate_name: Some(aggregate),
        aggregate_unit: Some(unit),
        times,
        ..blank.clone()
    });
    repetitions.chain(aggregates).collect()
}
