//! What `memory.latency_tlb` is measured for: the same loads on base and on
//! huge pages; what the first cost more is the walk of the page tables.

use super::COLUMNS;
use super::layout::wrap;
use model::estimate::Verdict;
use model::figure::{Figure, figure};
use model::run::{CurvePoint, Outcome, Run};
use model::size;
use model::stats::Interval;
use model::unit::Unit;

const BASE: &str = "memory.latency_tlb/4KiB";
const HUGE: &str = "memory.latency_tlb/huge";

/// One sentence at the largest range where both are known; empty where there
/// is none.
pub(super) fn page_walk(run: &Run) -> String {
    let (Some(base), Some(huge)) = (points(run, BASE), points(run, HUGE)) else {
        return String::new();
    };
    let Some((x, base_ns, huge_ns)) = base.iter().rev().find_map(|b| {
        let h = huge.iter().find(|h| h.x == b.x)?;
        Some((b.x, told(b)?, told(h)?))
    }) else {
        return String::new();
    };
    let text = |ns: &Interval| {
        let Figure {
            value,
            half_width,
            unit,
        } = figure(ns, &Unit::Time);
        format!("{value} ±{half_width} {unit}")
    };
    let lines = wrap(
        "page walk   ",
        &format!(
            "a load from one line in each 4 KiB of {} costs {} on 4 KiB pages and {} on huge pages; the difference, {}, is the walk of the page tables.",
            size::text(x),
            text(&base_ns),
            text(&huge_ns),
            text(&difference(&base_ns, &huge_ns))
        ),
        COLUMNS,
    );
    lines.join("\n") + "\n"
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

/// Difference of two independent figures; half widths add in quadrature.
fn difference(a: &Interval, b: &Interval) -> Interval {
    let value = a.value - b.value;
    let half = a.half_width().hypot(b.half_width());
    Interval {
        value,
        low: value - half,
        high: value + half,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_carry_both_intervals() {
        let of = |value: f64, half: f64| Interval {
            value,
            low: value - half,
            high: value + half,
        };
        let d = difference(&of(70.0, 3.0), &of(42.0, 4.0));
        assert!((d.value - 28.0).abs() < 1e-9);
        assert!((d.half_width() - 5.0).abs() < 1e-9);
    }
}
