//! What an estimate needs to know besides the samples.

use crate::core_clock::CoreClock;
use crate::gate::Gate;
use crate::row_kind::{Bound, Regime};
use crate::run::{Cell, Run};
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

impl<'a> Context<'a> {
    /// Single operations, not bound by the core, in ticks of so many ns, from eight workers.
    pub fn plain(gate: &'a Gate, regime: Regime, ns_per_tick: f64) -> Context<'a> {
        Context {
            gate,
            core_clock: None,
            ns_per_tick,
            resolution_ns: ns_per_tick,
            ops_per_turn: 1.0,
            bound: Bound::Memory,
            regime,
            workers: 8,
            contradiction: None,
            modes: &[],
        }
    }

    /// That of a cell in a document, of a row with this bound.
    pub fn for_cell(run: &'a Run, cell: &'a Cell, bound: Bound) -> Context<'a> {
        Context {
            core_clock: run.core_clock.as_ref(),
            resolution_ns: run.clock.resolution_ns.unwrap_or(run.clock.ns_per_tick),
            ops_per_turn: cell.ops_per_turn,
            bound,
            workers: run.plan.workers,
            modes: &cell.modes,
            ..Context::plain(&run.gate, cell.regime, run.clock.ns_per_tick)
        }
    }

    /// What one operation of a sample cost: ns, or in cycles of its own clock, if that is known.
    pub fn cost(&self, sample: &Sample, in_cycles: bool) -> Option<f64> {
        let ns = sample.ns_per_op(self.ops_per_turn, self.ns_per_tick);
        if in_cycles { sample.cycle_ns().map(|cycle_ns| ns / cycle_ns) } else { Some(ns) }
    }

    /// The smallest time of an operation, ns. Of a difference it is that of the
    /// smallest times of both loops: the smallest difference is only the one that
    /// noise got hold of most. `None` without a sample.
    pub(crate) fn shortest_ns(&self, samples: &[&Sample]) -> Option<f64> {
        let ns = |ticks: u64, s: &Sample| {
            ticks as f64 * self.ns_per_tick / (s.turns as f64 * self.ops_per_turn)
        };
        let first = samples.iter().map(|s| ns(s.first_ticks, s)).reduce(f64::min)?;
        let second = samples.iter().filter_map(|s| Some(ns(s.second_ticks?, s)));
        Some(second.reduce(f64::min).map_or(first, |second| second - first))
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
