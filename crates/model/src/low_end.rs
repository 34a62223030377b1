//! The undisturbed cost where the gate alone leaves too little: two weak witnesses that must agree.
//!
//! On a shared machine most visits are disturbed at some time, but hardly any for all of its samples: noise adds
//! time and never takes any, so that the smallest of several short samples is the operation alone. One witness is
//! the **low end** of each worker process: the 25 % quantile, over its visits, of the shortest time (of a difference
//! of two loops, that of the long one less that of the short one) over the shortest clock cycle of the visit.
//! What the low end can't see is a spread of the operation's own. The other witness is the median over visits of what
//! each says by its **samples with undisturbed ends**: their median, or their low end where the visit lost its CPU.
//! It knows nothing of what happened between the ends. The figure is that of the second witness; its interval
//! reaches as far as those of both, so that it is narrow only where they agree.

use crate::context::Context;
use crate::estimate::WORKERS;
use crate::sample::{Sample, flag};
use crate::spread;
use crate::stats::{self, Interval};
use std::collections::BTreeMap;

/// Visits with an undisturbed sample that the median over them needs for an interval.
const VISITS: usize = 6;
/// Workers whose low ends hold the 25 % quantile.
const LOW_ENDS: usize = 4;
/// Of visits' low ends, and of workers'.
const LOW: f64 = 0.25;
/// Samples of longer operations are never short enough, ns.
const LONGEST_NS: f64 = 1e6;
/// Such samples say nothing, neither of the low end nor of anything else.
const BROKEN: u8 = flag::COUNTER_BROKEN | flag::MIGRATED | flag::FAULTED | flag::CONTRADICTED;

/// What both witnesses say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LowEnd {
    /// ns per operation.
    pub(crate) ns: Interval,
    /// Clock cycles per operation, where every visit knows its clock.
    pub(crate) cycles: Option<Interval>,
    /// Samples with undisturbed ends.
    pub(crate) samples: usize,
    /// Workers that took them.
    pub(crate) workers: usize,
    /// Visits that hold them.
    pub(crate) visits: usize,
}

/// `None` where one of the witnesses is missing: too few visits or workers, longer operations, or a working set
/// beyond L2, since what others do to the last level and to memory no sample is free of.
pub(crate) fn low_end(samples: &[Sample], context: &Context) -> Option<LowEnd> {
    let usable: Vec<&Sample> =
        samples.iter().filter(|s| s.evidence.flags & BROKEN == 0 && s.turns > 0).collect();
    let length_ns =
        |s: &&Sample| (s.first_ticks + s.second_ticks.unwrap_or(0)) as f64 * context.ns_per_tick;
    let beyond_l2 = usable.iter().any(|s| s.evidence.last_level_ps.is_some());
    if beyond_l2 || stats::median(usable.iter().map(length_ns))? > LONGEST_NS {
        return None;
    }
    let mut visits: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for sample in usable {
        visits.entry(spread::visit(sample.worker, sample.at_ms)).or_default().push(sample);
    }
    let calm: Vec<Vec<&Sample>> = visits
        .values()
        .map(|visit| visit.iter().copied().filter(|s| has_quiet_ends(s, context)).collect())
        .filter(|calm: &Vec<&Sample>| !calm.is_empty())
        .collect();
    let workers: std::collections::BTreeSet<u32> = calm.iter().map(|v| v[0].worker).collect();
    if calm.len() < VISITS || workers.len() < WORKERS {
        return None;
    }
    let of_all = |in_cycles: bool| agreed(&visits, &calm, context, in_cycles);
    Some(LowEnd {
        ns: of_all(false)?,
        cycles: of_all(true),
        samples: calm.iter().map(Vec::len).sum(),
        workers: workers.len(),
        visits: calm.len(),
    })
}

/// The interval that holds what both witnesses say.
fn agreed(
    visits: &BTreeMap<u64, Vec<&Sample>>,
    calm: &[Vec<&Sample>],
    context: &Context,
    in_cycles: bool,
) -> Option<Interval> {
    let mut lows: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for visit in visits.values() {
        lows.entry(visit[0].worker).or_default().extend(shortest(visit, context, in_cycles));
    }
    let of_worker = |lows: Vec<f64>| stats::quantile_sorted(&stats::sorted(lows), LOW);
    let lows = stats::sorted(lows.into_values().filter_map(of_worker));
    let (low_end, _) = stats::quantile_interval_of(&lows, LOW, lows.len() as f64)
        .filter(|_| lows.len() >= LOW_ENDS)?;
    let of_visit = |visit: &Vec<&Sample>| match visit.iter().any(|s| s.evidence.lost_ns > 0) {
        true => shortest(visit, context, in_cycles),
        false => stats::median(visit.iter().filter_map(|s| context.cost(s, in_cycles))),
    };
    let of_calm = stats::sorted(calm.iter().filter_map(of_visit));
    let of_calm = stats::quantile_interval_sorted(&of_calm, 0.5)?;
    Some(Interval {
        low: of_calm.low.min(low_end.low),
        high: of_calm.high.max(low_end.high),
        ..of_calm
    })
}

/// The low end of samples of one visit, per operation.
fn shortest(visit: &[&Sample], context: &Context, in_cycles: bool) -> Option<f64> {
    let ns = context.shortest_ns(visit)?;
    match in_cycles {
        true => Some(ns / visit.iter().filter_map(|s| s.cycle_ns()).reduce(f64::min)?),
        false => Some(ns),
    }
}

/// Whether the canaries at both its ends are undisturbed, whatever happened to it and to its visit.
fn has_quiet_ends(sample: &Sample, context: &Context) -> bool {
    let mut alone = *sample;
    alone.evidence.lost_ns = 0;
    context.gate.is_quiet(&alone)
}
