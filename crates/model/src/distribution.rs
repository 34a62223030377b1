//! Distributions: what an operation typically costs, how far its tail
//! reaches, and which modes it ran in.

use crate::estimate::{Context, SAMPLES_IN_ALL, worker_medians};
use crate::sample::{Sample, flag};
use crate::stats::{self, Interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Samples above a percentile that are needed before it is told: below ten it
/// is the luck of a few.
const EXCEEDANCES: f64 = 10.0;

/// The cost as it came, whatever the machine did.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
pub struct Typical {
    /// Median, ns per operation, with a distribution-free 95 % interval where
    /// there are enough samples for one (else the range). For a distribution
    /// it is at least as wide as the t interval over the workers' medians:
    /// samples of one process resemble each other.
    pub ns: Interval,
    /// 10 % quantile, ns per operation.
    pub p10_ns: f64,
    /// 90 % quantile, ns per operation.
    pub p90_ns: f64,
    /// Samples behind it.
    pub samples: u32,
}

/// The far end of a distribution of single operations: there is none where a
/// sample is the mean of several.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// 99 % quantile, ns, with an interval by order statistics; absent where
    /// fewer than ten operations lie above it.
    pub p99_ns: Option<Interval>,
    /// 99.9 % quantile, ns, likewise.
    pub p999_ns: Option<Interval>,
    /// The longest operation seen, ns: it means nothing without the number of
    /// operations and the time over which they were seen.
    pub longest_ns: f64,
    /// The shortest, ns.
    pub shortest_ns: f64,
    /// Operations.
    pub operations: u32,
    /// First to last, ms.
    pub over_ms: u32,
}

/// One mode of an operation that has several, such as the same CPU and
/// another one.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Mode {
    /// In words.
    pub name: String,
    /// Share of the operations that ran in it.
    pub share: f64,
    /// What they cost.
    pub typical: Typical,
}

/// The typical cost over these samples.
pub(crate) fn typical<'s>(
    samples: impl Iterator<Item = &'s Sample>,
    context: &Context,
) -> Option<Typical> {
    of_values(stats::sorted(
        samples.map(|s| s.ns_per_op(context.ops_per_turn, context.ns_per_tick)),
    ))
}

fn of_values(values: Vec<f64>) -> Option<Typical> {
    let value = stats::quantile_sorted(&values, 0.5)?;
    let ns = stats::quantile_interval_sorted(&values, 0.5).unwrap_or(Interval {
        value,
        low: values[0],
        high: values[values.len() - 1],
    });
    Some(Typical {
        ns,
        p10_ns: stats::quantile_sorted(&values, 0.1)?,
        p90_ns: stats::quantile_sorted(&values, 0.9)?,
        samples: values.len() as u32,
    })
}

/// The same, with an interval that also holds what the workers' medians say.
pub(crate) fn typical_over_workers(samples: &[&Sample], context: &Context) -> Option<Typical> {
    let by_worker: Vec<(u32, f64)> = samples
        .iter()
        .map(|s| {
            let ns = s.ns_per_op(context.ops_per_turn, context.ns_per_tick);
            (s.worker, ns)
        })
        .collect();
    of_groups(&by_worker)
}

/// Typical of values that come in groups (a worker's, those of one stretch of
/// time): each with the number of its group, in order.
pub(crate) fn of_groups(values: &[(u32, f64)]) -> Option<Typical> {
    let mut typical = of_values(stats::sorted(values.iter().map(|&(_, v)| v)))?;
    let medians = worker_medians(values);
    if medians.len() >= 3
        && let Some(between) = stats::t_interval(&medians)
    {
        let half = between.half_width();
        typical.ns.low = typical.ns.low.min(typical.ns.value - half);
        typical.ns.high = typical.ns.high.max(typical.ns.value + half);
    }
    Some(typical)
}

/// The tail of single operations; none where any sample holds more than one:
/// the longest mean is not the longest operation.
pub(crate) fn tail(samples: &[&Sample], context: &Context) -> Option<Tail> {
    if !single(samples, context) {
        return None;
    }
    let values = stats::sorted(
        samples
            .iter()
            .map(|s| s.ns_per_op(context.ops_per_turn, context.ns_per_tick)),
    );
    let percentile = |q: f64| {
        (values.len() as f64 * (1.0 - q) >= EXCEEDANCES - 1e-9)
            .then(|| stats::quantile_interval_sorted(&values, q))
            .flatten()
    };
    let first = samples.iter().map(|s| s.at_ms).min()?;
    let last = samples.iter().map(|s| s.at_ms).max()?;
    Some(Tail {
        p99_ns: percentile(0.99),
        p999_ns: percentile(0.999),
        longest_ns: *values.last()?,
        shortest_ns: *values.first()?,
        operations: values.len() as u32,
        over_ms: last - first,
    })
}

/// Whether each sample is one operation.
fn single(samples: &[&Sample], context: &Context) -> bool {
    context.ops_per_turn == 1.0 && samples.iter().all(|s| s.turns == 1)
}

/// Whether these are times between stamps that may come in either order, such
/// as those of two threads: single operations, some of them below 0. Their
/// median may lie near 0, where its width in percent says nothing.
pub(crate) fn either_order(samples: &[&Sample], context: &Context) -> bool {
    single(samples, context) && samples.iter().any(|s| s.work_ticks() < 0.0)
}

/// The modes that occurred, the most frequent first; none where there is only
/// one name to give.
pub(crate) fn modes(samples: &[&Sample], context: &Context) -> Vec<Mode> {
    if context.modes.len() < 2 {
        return Vec::new();
    }
    let mut modes: Vec<Mode> = context
        .modes
        .iter()
        .enumerate()
        .filter_map(|(number, name)| {
            let own: Vec<&Sample> = samples
                .iter()
                .copied()
                .filter(|s| usize::from(s.evidence.mode) == number)
                .collect();
            Some(Mode {
                name: name.clone(),
                share: own.len() as f64 / samples.len() as f64,
                typical: typical_over_workers(&own, context)?,
            })
        })
        .collect();
    modes.sort_by(|a, b| b.share.total_cmp(&a.share));
    modes
}

/// Whether two of the modes are two figures: each with a sixth of the
/// operations, apart by 20 % of the one nearer to 0 (times between two threads'
/// stamps may be negative). Gives the words for it.
pub(crate) fn modes_apart(modes: &[Mode]) -> Option<String> {
    let large: Vec<&Mode> = modes.iter().filter(|m| m.share * 6.0 >= 1.0).collect();
    let ns = |m: &&Mode| m.typical.ns.value;
    let least = large.iter().map(ns).fold(f64::INFINITY, f64::min);
    let most = large.iter().map(ns).fold(f64::NEG_INFINITY, f64::max);
    let enough = modes
        .iter()
        .map(|m| m.typical.samples as usize)
        .sum::<usize>()
        >= SAMPLES_IN_ALL;
    let apart = most - least > 0.2 * least.abs().min(most.abs());
    (enough && large.len() >= 2 && apart).then(|| {
        let words: Vec<String> = large
            .iter()
            .map(|m| {
                format!(
                    "{} {} in {:.0} %",
                    m.name,
                    crate::figure::time(m.typical.ns.value),
                    m.share * 100.0
                )
            })
            .collect();
        words.join(", ")
    })
}

/// Whether what the kernel counted contradicts the method in most visits.
pub(crate) fn contradicted(samples: &[&Sample]) -> bool {
    let marked = samples.iter().filter(|s| s.has(flag::CONTRADICTED)).count();
    marked * 2 > samples.len()
}
