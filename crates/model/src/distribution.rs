//! Distributions: what an operation typically costs, and which modes it ran
//! in.

use crate::estimate::{Context, SAMPLES_IN_ALL, worker_medians};
use crate::sample::{Sample, flag};
use crate::spread::{self, Between, Reading};
use crate::states::{self, LEAST_SHARE};
use crate::stats::{self, Interval};
use crate::unit::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cost as it came, whatever the machine did.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
pub struct Typical {
    /// Median, ns per operation, with a distribution-free 95 % interval where
    /// there are enough samples for one (else the range). It is at least as
    /// wide as those over the medians of workers and of stretches of time:
    /// samples of one process, and of the same seconds, resemble each other.
    pub ns: Interval,
    /// 10 % quantile, ns per operation.
    pub p10_ns: f64,
    /// 90 % quantile, ns per operation.
    pub p90_ns: f64,
    /// Samples behind it.
    pub samples: u32,
}

/// One mode of an operation that has several, such as the same CPU and
/// another one; or one of two states that its samples fall into.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Mode {
    /// In words.
    pub name: String,
    /// Share of the operations that ran in it.
    pub share: f64,
    /// What they cost.
    pub typical: Typical,
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

/// The typical cost over these samples, with an interval that also holds what
/// the medians of workers and of stretches of time say, and which of these is
/// the widest.
pub(crate) fn typical(readings: &[Reading]) -> Option<(Typical, Between)> {
    let mut typical = of_values(stats::sorted(readings.iter().map(|r| r.value)))?;
    let samples = typical.ns.half_width();
    let Some((half, between)) = spread::half_width(readings) else {
        return Some((typical, Between::Samples));
    };
    widen(&mut typical.ns, half);
    let widest = if half > samples {
        between
    } else {
        Between::Samples
    };
    Some((typical, widest))
}

fn widen(interval: &mut Interval, half: f64) {
    interval.low = interval.low.min(interval.value - half);
    interval.high = interval.high.max(interval.value + half);
}

/// Each sample's time as it was, ns per operation.
pub(crate) fn readings<'s>(
    samples: impl IntoIterator<Item = &'s Sample>,
    context: &Context,
) -> Vec<Reading> {
    spread::readings(samples, |s| {
        s.ns_per_op(context.ops_per_turn, context.ns_per_tick)
    })
}

/// Typical of values that come in groups (the runs of one stretch of time):
/// each with the number of its group, in order.
pub(crate) fn of_groups(values: &[(u32, f64)]) -> Option<Typical> {
    let mut typical = of_values(stats::sorted(values.iter().map(|&(_, v)| v)))?;
    let medians = worker_medians(values);
    if medians.len() >= 3
        && let Some(between) = stats::t_interval(&medians)
    {
        widen(&mut typical.ns, between.half_width());
    }
    Some(typical)
}

/// Whether each sample is one operation.
pub(crate) fn single(samples: &[&Sample], context: &Context) -> bool {
    context.ops_per_turn == 1.0 && samples.iter().all(|s| s.turns == 1)
}

/// Whether these are times between stamps that may come in either order, such
/// as those of two threads: single operations, some of them below 0. Their
/// median may lie near 0, where its width in percent says nothing.
pub(crate) fn either_order(samples: &[&Sample], context: &Context) -> bool {
    single(samples, context) && samples.iter().any(|s| s.work_ticks() < 0.0)
}

/// The modes that occurred, in the row's own order, each with what its interval
/// is over; none where there is only one name to give.
pub(crate) fn modes(samples: &[&Sample], context: &Context) -> Vec<(Mode, Between)> {
    if context.modes.len() < 2 {
        return Vec::new();
    }
    let names = context.modes.iter().enumerate();
    names
        .filter_map(|(number, name)| {
            let own: Vec<&Sample> = samples
                .iter()
                .copied()
                .filter(|s| usize::from(s.evidence.mode) == number)
                .collect();
            let (typical, between) = typical(&readings(own.iter().copied(), context))?;
            let mode = Mode {
                name: name.clone(),
                share: own.len() as f64 / samples.len() as f64,
                typical,
            };
            Some((mode, between))
        })
        .collect()
}

/// Modes with a sixth of the operations or more.
fn large(modes: &[Mode]) -> impl Iterator<Item = &Mode> + Clone {
    modes.iter().filter(|m| is_large(m))
}

fn is_large(mode: &Mode) -> bool {
    mode.share >= LEAST_SHARE
}

/// Whether two of the modes are two figures: each with a sixth of the
/// operations, apart by 20 % of the one nearer to 0 (times between two threads'
/// stamps may be negative).
pub(crate) fn modes_apart(modes: &[Mode]) -> bool {
    let ns = |m: &Mode| m.typical.ns.value;
    let enough = modes
        .iter()
        .map(|m| m.typical.samples as usize)
        .sum::<usize>()
        >= SAMPLES_IN_ALL;
    enough && large(modes).count() >= 2 && apart(large(modes).map(ns))
}

/// Whether the largest and the smallest lie apart by a fifth.
fn apart(ns: impl Iterator<Item = f64> + Clone) -> bool {
    let least = ns.clone().fold(f64::INFINITY, f64::min);
    let most = ns.fold(f64::NEG_INFINITY, f64::max);
    most - least > 0.2 * least.abs().min(most.abs())
}

/// Which mode's figure stands for the row, where modes lie apart: the first one
/// of a sixth of the operations or more. A mixture's median moves with the
/// shares, and so would the choice of the most frequent mode.
pub(crate) fn headline(modes: &[Mode]) -> Option<usize> {
    let ns = modes.iter().map(|m| m.typical.ns.value);
    let several = modes.len() >= 2 && apart(ns);
    modes.iter().position(is_large).filter(|_| several)
}

/// The large modes in words: `same CPU 3000 ns in 75 %, other CPU 37.0 µs in
/// 25 %`.
pub(crate) fn in_words(modes: &[Mode], unit: &Unit) -> String {
    let words: Vec<String> = large(modes)
        .map(|m| {
            let figure = crate::figure::value(unit, unit.of_ns(m.typical.ns.value));
            format!("{} {figure} in {:.0} %", m.name, m.share * 100.0)
        })
        .collect();
    words.join(", ")
}

/// The two states that values fall into, if they do, the lower one first, and
/// its largest value.
pub(crate) fn two_states(readings: &[Reading], unit: &Unit) -> Option<(Vec<Mode>, f64)> {
    let values: Vec<(u64, f64)> = readings
        .iter()
        .map(|r| (spread::visit(r.worker, r.at_ms), r.value))
        .collect();
    let states = states::find(&values)?;
    let names = match unit.is_time() {
        true => ["fast", "slow"],
        false => ["lower", "upper"],
    };
    let state = |name: &str, upper: bool| {
        let own: Vec<Reading> = readings
            .iter()
            .filter(|r| (r.value > states.split) == upper)
            .copied()
            .collect();
        Some(Mode {
            name: name.into(),
            share: own.len() as f64 / readings.len() as f64,
            typical: typical(&own)?.0,
        })
    };
    let both = vec![state(names[0], false)?, state(names[1], true)?];
    Some((both, states.split))
}

/// Whether what the kernel counted contradicts the method in most visits.
pub(crate) fn contradicted(samples: &[&Sample]) -> bool {
    let marked = samples.iter().filter(|s| s.has(flag::CONTRADICTED)).count();
    marked * 2 > samples.len()
}
