//! Shares of a CPU's time, in consecutive parts of a recording, as rows.

use super::RecordingRows;
use crate::estimate::{CANNOT_TELL_ABOVE, Estimate, NOISY_ABOVE, Typical, Verdict};
use crate::run::{Axis, Bound, Cell, CurvePoint, Outcome, Row};
use crate::stats::{Interval, quantile_sorted, shares_sum, sorted, time_share};
use crate::unit::Unit;

/// A share known to this much of the whole to either side is known well, however small.
const CLOSE: f64 = 0.01;

/// A part of a recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShareSample {
    /// When it began, ms since the recording did.
    pub(super) at_ms: u64,
    /// What counts of it.
    pub(super) part: u64,
    /// All of it, in the same unit.
    pub(super) whole: u64,
}

/// The parts of a CPU; of a thread that was kept on none without a number.
pub(super) type OfCpu = (Option<u32>, Vec<ShareSample>);

impl RecordingRows {
    /// Adds a row of shares: a figure of one CPU, a curve over several.
    pub(super) fn add_shares(&mut self, id: &str, cpus: Vec<OfCpu>) {
        let several = cpus.len() > 1;
        let at = |cpu: &Option<u32>| (*cpu).filter(|_| several).map(u64::from);
        let mut points: Vec<CurvePoint> = Vec::new();
        for (cpu, parts) in &cpus {
            let parts: Vec<ShareSample> =
                parts.iter().copied().filter(|part| part.whole > 0).collect();
            points.push(CurvePoint {
                x: at(cpu).unwrap_or(0),
                bound: None,
                estimate: estimate(&parts),
            });
            let samples = parts.iter().map(|part| (part.at_ms, part.whole, part.part));
            self.cells.push(Cell::of_values(id, at(cpu).into_iter().collect(), samples));
        }
        let outcome = match points.len() {
            0 => Outcome::Unavailable { reason: "no CPU was recorded".into() },
            1 => Outcome::Figure(points.remove(0).estimate),
            _ => Outcome::Curve { axis: Axis::Cpu, points },
        };
        self.rows.push(Row::new(id, Unit::Count, Bound::Memory, outcome));
    }
}

fn estimate(parts: &[ShareSample]) -> Estimate {
    let each = sorted(parts.iter().map(|p| p.part as f64 / p.whole as f64));
    let Some((p10_ns, p90_ns)) = quantile_sorted(&each, 0.1).zip(quantile_sorted(&each, 0.9))
    else {
        let none = Estimate::bare(None, Verdict::CannotTell);
        return Estimate { reason: "nothing was watched".into(), ..none };
    };
    let pairs: Vec<(u64, u64)> = parts.iter().map(|p| (p.part, p.whole)).collect();
    let (verdict, reason, ns) = match time_share(&pairs) {
        None => {
            let (part, whole) = shares_sum(&pairs);
            let value = part as f64 / whole as f64;
            let few = "too short for an interval".to_owned();
            (Verdict::CannotTell, few, Interval { value, low: value, high: value })
        }
        Some(ns) => {
            let half = ns.half_width();
            let reason = format!("parts of the recording vary by ±{:.1} %", half * 100.0);
            match (half <= CLOSE, ns.relative_half_width()) {
                (true, _) => (Verdict::Ok, String::new(), ns),
                (_, width) if width <= NOISY_ABOVE => (Verdict::Ok, String::new(), ns),
                (_, width) if width <= CANNOT_TELL_ABOVE => (Verdict::Noisy, reason, ns),
                _ => (Verdict::CannotTell, reason, ns),
            }
        }
    };
    let typical = Typical { ns, p10_ns, p90_ns, samples: parts.len() as u32 };
    Estimate { reason, ..Estimate::bare(Some(typical), verdict) }
}
