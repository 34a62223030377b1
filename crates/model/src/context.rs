//! What an estimate needs to know besides the samples.

use crate::core_clock::CoreClock;
use crate::gate::Gate;
use crate::row_kind::{Bound, Regime};
use crate::sample::Sample;

/// What an estimate needs to know besides the samples.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Thresholds of the quiet machine.
    pub gate: &'a Gate,
    /// The core's clock over the run.
    pub core_clock: Option<&'a CoreClock>,
    /// Length of a tick of the measuring clock, ns.
    pub ns_per_tick: f64,
    /// Smallest step of the measuring clock, ns.
    pub resolution_ns: f64,
    /// Operations in one turn.
    pub ops_per_turn: f64,
    /// What the row's time follows.
    pub bound: Bound,
    /// How it was measured.
    pub regime: Regime,
    /// Workers that were meant to take samples.
    pub workers: u32,
    /// What the kernel counted against the method, as the last visit said.
    pub contradiction: Option<&'a str>,
    /// Names of the modes that stamped operations ran in.
    pub modes: &'a [String],
}

impl Context<'_> {
    /// What one operation of a sample cost: ns, or in cycles of its own clock, if that is known.
    pub fn cost(&self, sample: &Sample, in_cycles: bool) -> Option<f64> {
        let ns = sample.ns_per_op(self.ops_per_turn, self.ns_per_tick);
        match in_cycles {
            true => sample.cycle_ns().map(|cycle_ns| ns / cycle_ns),
            false => Some(ns),
        }
    }
}

/// One sample in ns: for a row bound by the core, its cycles at the run's
/// median clock.
pub(crate) fn in_ns(sample: &Sample, context: &Context) -> f64 {
    let ns = sample.ns_per_op(context.ops_per_turn, context.ns_per_tick);
    match (context.bound, context.core_clock, sample.cycle_ns()) {
        (Bound::Core, Some(clock), Some(cycle)) => ns / cycle * clock.cycle_ns.value,
        _ => ns,
    }
}
