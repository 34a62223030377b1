//! What is known of one number of threads.

use super::{PROBE, points};
use crate::render::intervals::quotient;
use model::estimate::{Estimate, Verdict};
use model::run::{CurvePoint, Run};
use model::stats::Interval;

/// What is known of one number of threads.
pub(super) struct Line<'r> {
    pub(super) threads: u64,
    pub(super) took: Option<&'r Estimate>,
    pub(super) ideal: Option<&'r Estimate>,
    pub(super) single: Option<&'r Estimate>,
}

impl Line<'_> {
    /// Time of an operation over the ideal.
    pub(super) fn ratio(&self) -> Option<Interval> {
        quotient(&told(self.took?)?, &told(self.ideal?)?)
    }
}

/// The figure of a point that may be built on.
fn told(estimate: &Estimate) -> Option<Interval> {
    let untold = matches!(estimate.verdict, Verdict::CannotTell | Verdict::Invalid);
    estimate.ns().filter(|_| !untold)
}

/// All numbers of threads that were measured, rising.
pub(super) fn lines(run: &Run) -> Vec<Line<'_>> {
    let of = |id: &str| run.row(id).and_then(points).unwrap_or_default();
    let (took, ideal, single) = (of(PROBE), of("sched.pool/ideal"), of("sched.pool/single"));
    let mut threads: Vec<u64> = took.iter().chain(single).map(|p| p.x).collect();
    threads.sort_unstable();
    threads.dedup();
    let at = |points: &'_ [CurvePoint], x: u64| points.iter().position(|p| p.x == x);
    threads
        .into_iter()
        .map(|x| Line {
            threads: x,
            took: at(took, x).map(|k| &took[k].estimate),
            ideal: at(ideal, x).map(|k| &ideal[k].estimate),
            single: at(single, x).map(|k| &single[k].estimate),
        })
        .collect()
}
