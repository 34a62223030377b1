//! Distributions: what an operation typically costs, and which modes it ran
//! in.

use crate::context::Context;
use crate::estimate::{Mode, SAMPLES_IN_ALL, Typical, apart, large};
use crate::sample::{Sample, flag};
use crate::spread::{self, Between, Observation, worker_medians};
use crate::states;
use crate::stats::{self, Interval};
use crate::unit::Unit;

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
pub(crate) fn typical(readings: &[Observation]) -> Option<(Typical, Between)> {
    let mut typical = of_values(stats::sorted(readings.iter().map(|r| r.value)))?;
    let samples = typical.ns.half_width();
    let Some((half, between)) = spread::half_width(readings) else {
        return Some((typical, Between::Samples));
    };
    widen(&mut typical.ns, half);
    let widest = if half > samples { between } else { Between::Samples };
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
) -> Vec<Observation> {
    spread::readings(samples, |s| s.ns_per_op(context.ops_per_turn, context.ns_per_tick))
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

/// Whether two of the modes are two figures: each with a sixth of the
/// operations, apart by 20 % of the one nearer to 0 (times between two threads'
/// stamps may be negative).
pub(crate) fn modes_apart(modes: &[Mode]) -> bool {
    let ns = |m: &Mode| m.typical.ns.value;
    let enough = modes.iter().map(|m| m.typical.samples as usize).sum::<usize>() >= SAMPLES_IN_ALL;
    enough && large(modes).count() >= 2 && apart(large(modes).map(ns))
}

/// The two states that values fall into, if they do, the lower one first, and
/// its largest value.
pub(crate) fn two_states(readings: &[Observation], unit: &Unit) -> Option<(Vec<Mode>, f64)> {
    let values: Vec<(u64, f64)> =
        readings.iter().map(|r| (spread::visit(r.worker, r.at_ms), r.value)).collect();
    let states = states::find_two_states(&values)?;
    let names = if unit.is_time() { ["fast", "slow"] } else { ["lower", "upper"] };
    let state = |name: &str, upper: bool| {
        let own: Vec<Observation> =
            readings.iter().filter(|r| (r.value > states.split) == upper).copied().collect();
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
