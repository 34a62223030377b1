//! Estimates and rows with given figures.

use crate::estimate::{Estimate, Quiet, Typical, Verdict};
use crate::run::{Bound, Outcome, Row};
use crate::stats::Interval;
use crate::unit::Unit;

pub(super) const CYCLE_NS: f64 = 0.33;

/// An outcome of a single figure that is ok.
pub fn ok_outcome(ns: f64, half: f64) -> Outcome {
    Outcome::Figure(estimate(ns, half))
}

pub(super) fn interval(value: f64, half: f64) -> Interval {
    Interval { value, low: value - half, high: value + half }
}

pub(super) fn estimate(ns: f64, half: f64) -> Estimate {
    Estimate {
        quiet: Some(Quiet {
            ns: interval(ns, half),
            cycles: Some(interval(ns / CYCLE_NS, half / CYCLE_NS)),
            minimum_ns: ns * 0.99,
            samples: 310,
            workers: 8,
            at_run_clock: false,
            clock_movement: None,
            low_end: false,
        }),
        typical: Some(Typical {
            ns: interval(ns * 1.02, half),
            p10_ns: ns,
            p90_ns: ns * 1.11,
            samples: 400,
        }),
        tail: None,
        modes: Vec::new(),
        quiet_share: Some(0.78),
        below_ns: None,
        verdict: Verdict::Ok,
        reason: String::new(),
    }
}

/// An estimate with this verdict.
pub fn judged(ns: f64, half: f64, verdict: Verdict, reason: &str) -> Estimate {
    let mut estimate = estimate(ns, half);
    (estimate.verdict, estimate.reason) = (verdict, reason.into());
    if verdict == Verdict::Invalid {
        estimate.invalidate(reason.into());
    }
    estimate
}

/// A row of times.
pub fn row_of_times(id: &str, outcome: Outcome) -> Row {
    Row::new(id, Unit::Time, Bound::Core, outcome)
}
