//! What the server did, in Prometheus' text format (version 0.0.4,
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram of how long answers took, s.
const BOUNDS_S: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 20.0,
];

/// What a request is counted under. Only what we wrote ourselves: a stranger's
/// words would be as many counters as he likes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Labels {
    pub(crate) route: String,
    pub(crate) method: &'static str,
}

/// What came of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Uploaded {
    Kept,
    AlreadyKept,
    Refused,
}

impl Uploaded {
    fn text(self) -> &'static str {
        match self {
            Uploaded::Kept => "kept",
            Uploaded::AlreadyKept => "already_kept",
            Uploaded::Refused => "refused",
        }
    }
}

#[derive(Default)]
struct Counts {
    requests: BTreeMap<(Labels, u16), u64>,
    durations: BTreeMap<String, Histogram>,
    uploads: BTreeMap<Uploaded, u64>,
}

#[derive(Default)]
struct Histogram {
    /// One a bound, and one for what is longer than all.
    buckets: [u64; BOUNDS_S.len() + 1],
    sum_s: f64,
}

/// Counters since the start.
#[derive(Default)]
pub(crate) struct Metrics(Mutex<Counts>);

impl Metrics {
    pub(crate) fn answered(&self, labels: &Labels, status: u16, took: Duration) {
        let mut counts = self.counts();
        *counts.requests.entry((labels.clone(), status)).or_default() += 1;
        let histogram = counts.durations.entry(labels.route.clone()).or_default();
        let took_s = took.as_secs_f64();
        let bucket = BOUNDS_S.iter().position(|&bound| took_s <= bound);
        histogram.buckets[bucket.unwrap_or(BOUNDS_S.len())] += 1;
        histogram.sum_s += took_s;
    }

    pub(crate) fn uploaded(&self, what: Uploaded) {
        *self.counts().uploads.entry(what).or_default() += 1;
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of it as text; how many runs and machines are kept is asked for.
    pub(crate) fn text(&self, runs: usize, machines: usize) -> String {
        let counts = self.counts();
        let mut page = String::new();
        let head = |page: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        let name = "latlas_http_requests_total";
        head(&mut page, name, "counter", "Requests answered.");
        for ((labels, status), count) in &counts.requests {
            let Labels { route, method } = labels;
            let _ = writeln!(
                page,
                "{name}{{route=\"{}\",method=\"{method}\",status=\"{status}\"}} {count}",
                escaped(route)
            );
        }
        let name = "latlas_http_request_duration_seconds";
        head(&mut page, name, "histogram", "Time until an answer began.");
        for (route, histogram) in &counts.durations {
            let route = escaped(route);
            let mut below = 0;
            for (count, bound) in histogram.buckets.iter().zip(BOUNDS_S) {
                below += count;
                let _ = writeln!(
                    page,
                    "{name}_bucket{{route=\"{route}\",le=\"{bound}\"}} {below}"
                );
            }
            let all: u64 = histogram.buckets.iter().sum();
            let _ = writeln!(page, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {all}");
            let _ = writeln!(page, "{name}_sum{{route=\"{route}\"}} {}", histogram.sum_s);
            let _ = writeln!(page, "{name}_count{{route=\"{route}\"}} {all}");
        }
        let name = "latlas_uploads_total";
        head(&mut page, name, "counter", "Run documents that were sent.");
        for what in [Uploaded::Kept, Uploaded::AlreadyKept, Uploaded::Refused] {
            let count = counts.uploads.get(&what).copied().unwrap_or(0);
            let _ = writeln!(page, "{name}{{result=\"{}\"}} {count}", what.text());
        }
        for (name, help, count) in [
            ("latlas_runs", "Runs kept.", runs),
            ("latlas_machines", "Machines with kept runs.", machines),
        ] {
            head(&mut page, name, "gauge", help);
            let _ = writeln!(page, "{name} {count}");
        }
        page
    }
}

/// A label's value as the format has it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
