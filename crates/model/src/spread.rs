//! How far samples that resemble each other determine a figure.
//!
//! Samples of one visit share the machine's state, visits of the same seconds
//! share the host's, and those of one process share its layout of code and
//! pages. So a figure has two intervals: over the workers' medians, and over
//! the medians of eight stretches of time. The wider one counts.

use crate::sample::Sample;
use crate::stats;
use std::collections::BTreeMap;

/// Stretches of time that the samples of a cell are divided into.
pub(crate) const STRETCHES: u32 = 8;
/// Groups that an interval needs: of two, t reaches nine standard errors.
const GROUPS: usize = 3;

/// A worker's median counts from this many quiet samples on.
pub(crate) const SAMPLES_PER_WORKER: usize = 3;

/// One value with what it shares with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    /// Worker process.
    pub(crate) worker: u32,
    /// When its visit began, ms since the run began.
    pub(crate) at_ms: u32,
    pub(crate) value: f64,
}

/// A reading of each of these samples.
pub(crate) fn readings<'s>(
    samples: impl IntoIterator<Item = &'s Sample>,
    value: impl Fn(&Sample) -> f64,
) -> Vec<Observation> {
    samples
        .into_iter()
        .map(|sample| Observation {
            worker: sample.worker,
            at_ms: sample.at_ms,
            value: value(sample),
        })
        .collect()
}

/// Medians of the workers that have enough values.
pub(crate) fn of_workers(readings: &[Observation]) -> Vec<f64> {
    medians(readings, |reading| reading.worker)
}

/// Medians of the stretches of time that have enough values.
pub(crate) fn of_stretches(readings: &[Observation]) -> Vec<f64> {
    let stretch = stretches(readings);
    medians(readings, |reading| stretch(reading.at_ms))
}

/// Which of the equal stretches of these readings' time a moment belongs to.
pub(crate) fn stretches(readings: &[Observation]) -> impl Fn(u32) -> u32 + use<> {
    let first = readings.iter().map(|r| r.at_ms).min().unwrap_or(0);
    let last = readings.iter().map(|r| r.at_ms).max().unwrap_or(0);
    let span = u64::from(last - first) + 1;
    move |at_ms| {
        let passed = u64::from(at_ms.saturating_sub(first));
        (passed * u64::from(STRETCHES) / span) as u32
    }
}

fn medians(readings: &[Observation], group: impl Fn(&Observation) -> u32) -> Vec<f64> {
    let values: Vec<(u32, f64)> = readings.iter().map(|r| (group(r), r.value)).collect();
    let medians = medians_by_worker(&values);
    medians.into_iter().map(|(_, median)| median).collect()
}

crate::words! {
    /// What an interval is over.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Between: text {
        /// Samples by themselves.
        Samples = "samples",
        /// Worker processes.
        Workers = "workers",
        /// Stretches of time.
        Stretches = "parts of the run",
    }
}

/// Half of the wider of the two intervals, and which one it is; `None` where
/// neither workers nor stretches are enough for one.
pub(crate) fn half_width(readings: &[Observation]) -> Option<(f64, Between)> {
    [(of_workers(readings), Between::Workers), (of_stretches(readings), Between::Stretches)]
        .into_iter()
        .filter(|(medians, _)| medians.len() >= GROUPS)
        .filter_map(|(medians, of)| Some((stats::trimmed_t_interval(&medians)?.half_width(), of)))
        .reduce(|a, b| if b.0 > a.0 { b } else { a })
}

/// How many times larger the variance of a share is than that of independent
/// values, since the values of one group resemble each other (Kish, Survey
/// Sampling, 1965: the design effect); at least 1. `hits` says for each value
/// its group, and whether it counts.
pub(crate) fn design_effect(hits: &[(u64, bool)]) -> f64 {
    let mut groups: std::collections::BTreeMap<u64, (f64, f64)> = Default::default();
    for &(group, hit) in hits {
        let entry = groups.entry(group).or_default();
        entry.0 += f64::from(u8::from(hit));
        entry.1 += 1.0;
    }
    let n = hits.len() as f64;
    let share = groups.values().map(|(hits, _)| hits).sum::<f64>() / n;
    let independent = share * (1.0 - share) * n;
    let count = groups.len() as f64;
    if count < 2.0 || independent == 0.0 {
        return 1.0;
    }
    let squares: f64 = groups.values().map(|(hits, all)| (hits - share * all).powi(2)).sum();
    (squares * count / (count - 1.0) / independent).max(1.0)
}

/// Which visit a sample belongs to: those of one worker that began at one
/// moment.
pub(crate) fn visit(worker: u32, at_ms: u32) -> u64 {
    u64::from(worker) << 32 | u64::from(at_ms)
}

/// Median of each worker that has enough samples.
pub(crate) fn worker_medians(values: &[(u32, f64)]) -> Vec<f64> {
    let medians = medians_by_worker(values);
    medians.into_iter().map(|(_, median)| median).collect()
}

/// The same with the workers' numbers.
pub(crate) fn medians_by_worker(values: &[(u32, f64)]) -> Vec<(u32, f64)> {
    by_worker(values)
        .into_iter()
        .filter_map(|(worker, own)| {
            let enough = own.len() >= SAMPLES_PER_WORKER;
            Some((worker, stats::median(own).filter(|_| enough)?))
        })
        .collect()
}

/// The values of each worker, by its number.
pub(crate) fn by_worker(values: &[(u32, f64)]) -> BTreeMap<u32, Vec<f64>> {
    let mut workers: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for &(worker, value) in values {
        workers.entry(worker).or_default().push(value);
    }
    workers
}
