//! Counters and gauges in Prometheus' text format (version 0.0.4,
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>).

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram of response times, s.
const BOUNDS_S: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 20.0];

#[derive(Clone, Copy)]
pub(crate) enum Uploaded {
    Stored,
    AlreadyStored,
    Refused,
}

#[derive(Default)]
struct RequestCounts {
    /// By route, method and status: only texts of our own, since every other
    /// one would be a counter more.
    requests: BTreeMap<(String, &'static str, u16), u64>,
    durations: BTreeMap<String, Histogram>,
    uploads: [u64; 3],
}

#[derive(Default)]
struct Histogram {
    /// One for each bound, and one for longer durations.
    buckets: [u64; BOUNDS_S.len() + 1],
    sum_s: f64,
}

#[derive(Default)]
pub(crate) struct Metrics(Mutex<RequestCounts>);

impl Metrics {
    pub(crate) fn answered(
        &self,
        route: String,
        method: &'static str,
        status: u16,
        duration: Duration,
    ) {
        let mut counts = self.counts();
        let histogram = counts.durations.entry(route.clone()).or_default();
        let seconds = duration.as_secs_f64();
        let bucket = BOUNDS_S.iter().position(|&bound| seconds <= bound);
        histogram.buckets[bucket.unwrap_or(BOUNDS_S.len())] += 1;
        histogram.sum_s += seconds;
        *counts.requests.entry((route, method, status)).or_default() += 1;
    }

    pub(crate) fn uploaded(&self, what: Uploaded) {
        self.counts().uploads[what as usize] += 1;
    }

    fn counts(&self) -> MutexGuard<'_, RequestCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The metrics, with the numbers of stored runs and machines.
    pub(crate) fn metrics_text(&self, runs: usize, machines: usize) -> String {
        let counts = self.counts();
        let requests = counts.requests.iter();
        let requests = requests.map(|((route, method, status), count)| {
            let labels = format!("{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}}");
            (labels, *count as f64)
        });
        let durations = counts.durations.iter().flat_map(|(route, histogram)| {
            let route = format!("route=\"{route}\"");
            let mut total = 0;
            let mut samples = Vec::new();
            let bounds = BOUNDS_S.iter().map(f64::to_string);
            for (count, bound) in histogram.buckets.iter().zip(bounds.chain(["+Inf".into()])) {
                total += count;
                let labels = format!("_bucket{{{route},le=\"{bound}\"}}");
                samples.push((labels, total as f64));
            }
            samples.push((format!("_sum{{{route}}}"), histogram.sum_s));
            samples.push((format!("_count{{{route}}}"), total as f64));
            samples
        });
        let uploads = ["kept", "already_kept", "refused"].iter();
        let uploads = uploads.zip(counts.uploads);
        let uploads = uploads.map(|(result, n)| (format!("{{result=\"{result}\"}}"), n as f64));
        let single = |count: usize| vec![(String::new(), count as f64)];
        let mut page = String::new();
        for (name, kind, help, samples) in [
            ("http_requests_total", "counter", "Requests answered.", requests.collect()),
            (
                "http_request_duration_seconds",
                "histogram",
                "Time until the response began.",
                durations.collect(),
            ),
            ("uploads_total", "counter", "Run documents sent.", uploads.collect()),
            ("runs", "gauge", "Stored runs.", single(runs)),
            ("machines", "gauge", "Machines with stored runs.", single(machines)),
        ] {
            page += &format!("# HELP latlas_{name} {help}\n# TYPE latlas_{name} {kind}\n");
            for (labels, value) in samples {
                page += &format!("latlas_{name}{labels} {value}\n");
            }
        }
        page
    }
}
