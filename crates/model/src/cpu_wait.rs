//! How much of a stamped figure is a wait for a CPU. A thread that is ready while others have
//! the CPUs waits for a time slice of the scheduler, and a slice repeats so exactly that the
//! interval over such waits is narrower than that of the operation itself.

use crate::context::Context;
use crate::figure::time;
use crate::sample::Sample;
use crate::{spread, stats};
use std::collections::BTreeMap;
use std::fmt;

/// A wait for a CPU that takes more than this share of a figure is a part of it.
const WAIT_ABOVE: f64 = 0.25;

/// A shorter one is a wake-up, whose way to an idle CPU is counted as well and is the operation's own. The
/// shortest slice that the kernel grants is 0.1 ms (`sched_setattr(2)`), of which half is left in the mean.
const WAIT_FROM_NS: f64 = 50_000.0;

/// Threads that waited for more than this many times what a visit's operations took did so
/// before, between or after them.
const OUTSIDE_ABOVE: f64 = 2.0;

/// A figure that is in part a wait for a CPU: it says what else ran and what the scheduler's time
/// slice is, whatever its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuWait {
    /// The wait, ns.
    pub waited_ns: f64,
    /// The figure, ns.
    pub figure_ns: f64,
}

impl CpuWait {
    /// The wait in the median of these runs, each with its time and how much of that it was ready
    /// and had no CPU, ns; `None` where it is no part of it.
    pub fn within_runs(runs: &[(f64, f64)]) -> Option<CpuWait> {
        let figure_ns = stats::median(runs.iter().map(|(took_ns, _)| *took_ns))?;
        let least_ns = stats::median(runs.iter().map(|(took_ns, waited_ns)| took_ns - waited_ns))?;
        CpuWait::part_of(figure_ns, figure_ns - least_ns)
    }

    /// A wait that is a part of a figure.
    fn part_of(figure_ns: f64, waited_ns: f64) -> Option<CpuWait> {
        (waited_ns >= WAIT_FROM_NS && waited_ns > WAIT_ABOVE * figure_ns)
            .then_some(CpuWait { waited_ns, figure_ns })
    }
}

impl fmt::Display for CpuWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [waited, whole] = [self.waited_ns, self.figure_ns].map(time);
        write!(f, "its time is a wait for a CPU: {waited} of {whole} runnable, not running")
    }
}

/// How much of a figure, the median of the operations in `shown`, was such a wait, ns, if it is a
/// part of it. Which operations waited is not known: what the threads of a visit waited is dealt
/// out to its longest ones, as if none of the others had; all other ways leave less of a
/// typical one.
pub(crate) fn within(
    figure_ns: f64,
    samples: &[&Sample],
    shown: impl Fn(&Sample) -> bool,
    context: &Context,
) -> Option<CpuWait> {
    let mut visits: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        visits.entry(spread::visit(sample.worker, sample.at_ms)).or_default().push(sample);
    }
    let ns = |s: &Sample| s.ns_per_op(context.ops_per_turn, context.ns_per_tick);
    let least_ns = visits.values().flat_map(|visit| {
        let longest_ns = longest_without_waits(visit, context);
        let own = visit.iter().filter(|s| shown(s));
        own.map(move |s| longest_ns.map_or(ns(s), |longest_ns| ns(s).min(longest_ns)))
    });
    CpuWait::part_of(figure_ns, figure_ns - stats::median(least_ns)?)
}

/// The longest that an operation of this visit would have been if none of its threads had
/// waited, ns; `None` where they did not.
fn longest_without_waits(visit: &[&Sample], context: &Context) -> Option<f64> {
    let mut times: Vec<(f64, f64)> = visit
        .iter()
        .map(|s| {
            let ns = s.ns_per_op(context.ops_per_turn, context.ns_per_tick);
            (ns, s.turns as f64 * context.ops_per_turn)
        })
        .collect();
    let took_ns: f64 = times.iter().map(|(ns, ops)| ns * ops).sum();
    let waited_ns: f64 = visit.iter().map(|s| s.evidence.lost_ns as f64).sum();
    if waited_ns == 0.0 || waited_ns > OUTSIDE_ABOVE * took_ns {
        return None;
    }
    // Two threads may wait at the same time, together for longer than an operation takes.
    let mut left_ns = waited_ns.min(took_ns);
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut operations = 0.0;
    for (place, &(ns, ops)) in times.iter().enumerate() {
        operations += ops;
        let next_ns = times.get(place + 1).map_or(f64::NEG_INFINITY, |next| next.0);
        let longest_ns = ns - left_ns / operations;
        if longest_ns >= next_ns {
            return Some(longest_ns);
        }
        left_ns -= (ns - next_ns) * operations;
    }
    None
}
