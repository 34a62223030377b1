//! The far end of a distribution: how far it reaches, how well that is known,
//! and whose the longest operations were.

use crate::context::Context;
use crate::distribution::single;
use crate::estimate::{Longest, Tail, Verdict};
use crate::sample::Sample;
use crate::spread::{self, Observation};
use crate::stats::{self, Interval};
use std::collections::BTreeMap;

/// Samples above a percentile that are needed before it is reported: below ten it
/// is the luck of a few.
const EXCEEDANCES: f64 = 10.0;
/// A 99 % quantile is noisy where its interval is wider than this to either
/// side: bursts leave of a default run's operations as many as a few hundred
/// independent ones would be.
pub const NOISY_ABOVE: f64 = 0.5;
/// Operations at the far end that are asked whose they were, at most.
const LONGEST: usize = 10;
/// How many times the median an operation takes that is long.
const LONG: f64 = 2.0;

/// The tail of single operations; none where any sample holds more than one:
/// the longest mean is not the longest operation.
pub(crate) fn tail(samples: &[&Sample], context: &Context) -> Option<Tail> {
    if !single(samples, context) {
        return None;
    }
    let readings = spread::readings(samples.iter().copied(), |s| {
        s.ns_per_op(context.ops_per_turn, context.ns_per_tick)
    });
    let values = stats::sorted(readings.iter().map(|r| r.value));
    let percentile = |q: f64| {
        (values.len() as f64 * (1.0 - q) >= EXCEEDANCES - 1e-9)
            .then(|| quantile_interval(&values, &readings, q))
            .flatten()
    };
    let p99 = percentile(0.99);
    let first = samples.iter().map(|s| s.at_ms).min()?;
    let last = samples.iter().map(|s| s.at_ms).max()?;
    Some(Tail {
        p99_ns: p99.map(|(interval, _)| interval),
        p999_ns: percentile(0.999).map(|(interval, _)| interval),
        longest_ns: *values.last()?,
        shortest_ns: *values.first()?,
        operations: values.len() as u32,
        over_ms: last - first,
        verdict: p99.map(|(interval, whole)| match interval.relative_half_width() {
            _ if !whole => Verdict::CannotTell,
            width if width > NOISY_ABOVE => Verdict::Noisy,
            _ => Verdict::Ok,
        }),
        longest: longest(samples, &readings, stats::quantile_sorted(&values, 0.5)?),
    })
}

/// A quantile's interval, and whether it has an upper end.
fn quantile_interval(values: &[f64], readings: &[Observation], q: f64) -> Option<(Interval, bool)> {
    let value = stats::quantile_sorted(values, q)?;
    let stretch = spread::stretches(readings);
    let by_visit = |r: &Observation| spread::visit(r.worker, r.at_ms);
    let by_stretch = |r: &Observation| u64::from(stretch(r.at_ms));
    let independent = [&by_visit as &dyn Fn(&Observation) -> u64, &by_stretch]
        .into_iter()
        .map(|group| {
            let hits: Vec<(u64, bool)> =
                readings.iter().map(|r| (group(r), r.value >= value)).collect();
            independent(&hits)
        })
        .fold(f64::INFINITY, f64::min);
    stats::quantile_interval_of(values, q, independent)
}

/// As how many independent values these count, in groups: fewer still where
/// the groups are too few to say how much they resemble each other.
fn independent(hits: &[(u64, bool)]) -> f64 {
    let n = hits.len() as f64;
    let mut groups: Vec<u64> = hits.iter().map(|&(group, _)| group).collect();
    groups.sort_unstable();
    groups.dedup();
    let effect = spread::design_effect(hits);
    if groups.len() < 2 || effect == 1.0 {
        return n;
    }
    let certain = 1.96 / stats::t_quantile_975(groups.len() - 1);
    n / effect * certain * certain
}

/// Whose the longest operations were: a visit's run delay, less what a visit
/// usually has, is dealt out to its operations from the longest down.
fn longest(samples: &[&Sample], readings: &[Observation], median: f64) -> Option<Longest> {
    let mut lost: BTreeMap<u64, f64> = BTreeMap::new();
    for sample in samples {
        *lost.entry(spread::visit(sample.worker, sample.at_ms)).or_default() +=
            sample.evidence.lost_ns as f64;
    }
    if lost.values().all(|&ns| ns == 0.0) {
        return None;
    }
    let usual = stats::median(lost.values().copied())?;
    lost.values_mut().for_each(|ns| *ns -= usual);
    let mut order: Vec<&Observation> = readings.iter().collect();
    order.sort_by(|a, b| b.value.total_cmp(&a.value));
    order.truncate(LONGEST.min(readings.len().div_ceil(100)));
    order.retain(|reading| reading.value > LONG * median.abs());
    if order.is_empty() {
        return None;
    }
    let mut scheduler = 0;
    for reading in &order {
        let left = lost.get_mut(&spread::visit(reading.worker, reading.at_ms))?;
        let excess = reading.value - median;
        if *left >= excess / 2.0 {
            *left -= excess;
            scheduler += 1;
        }
    }
    Some(Longest { of: order.len() as u32, scheduler })
}
