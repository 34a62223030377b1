//! What `memory.latency_tlb` is measured for: the same loads on base and on
//! huge pages; what the first cost more is the walk of the page tables.

use super::COLUMNS;
use super::figures::time_with_half;
use super::intervals::difference;
use super::layout::wrap;
use model::estimate::Verdict;
use model::run::{CurvePoint, Outcome, Run};
use model::size;
use model::stats::Interval;

const BASE: &str = "memory.latency_tlb/4KiB";
const HUGE: &str = "memory.latency_tlb/huge";

/// The sentence as a block; empty where there is none.
pub(super) fn page_walk(run: &Run) -> String {
    match in_words(run) {
        Some(words) => wrap("page walk   ", &words, COLUMNS).join("\n") + "\n",
        None => String::new(),
    }
}

/// One sentence at the largest range where both are known.
pub(crate) fn in_words(run: &Run) -> Option<String> {
    let (base, huge) = (points(run, BASE)?, points(run, HUGE)?);
    let (x, base_ns, huge_ns) = base.iter().rev().find_map(|b| {
        let h = huge.iter().find(|h| h.x == b.x)?;
        Some((b.x, told(b)?, told(h)?))
    })?;
    Some(format!(
        "a load from one line in each 4 KiB of {} costs {} on 4 KiB pages and {} on huge pages; the difference, {}, is the walk of the page tables.",
        size::text(x),
        time_with_half(&base_ns),
        time_with_half(&huge_ns),
        time_with_half(&difference(&base_ns, &huge_ns))
    ))
}

fn points<'r>(run: &'r Run, id: &str) -> Option<&'r [CurvePoint]> {
    match &run.row(id)?.outcome {
        Outcome::Curve { points, .. } => Some(points),
        _ => None,
    }
}

/// The figure of a point that may be built on.
fn told(point: &CurvePoint) -> Option<Interval> {
    let usable = matches!(point.estimate.verdict, Verdict::Ok | Verdict::Noisy);
    point.estimate.ns().filter(|_| usable)
}
