//! What all estimates of a run share.

use crate::cell_state::CellState;
use crate::plan::PlannedCell;
use model::context::Context;
use model::core_clock::ClockMovement;
use model::estimate::Estimate;
use model::estimator;
use model::gate::Gate;
use model::loop_cost;
use model::machine_readings::MachineReadings;
use model::run::CoreClock;

/// What every estimate of a run shares.
pub struct RunContext {
    /// Thresholds.
    pub gate: Gate,
    /// The core's clock.
    pub core_clock: Option<CoreClock>,
    /// Tick, ns.
    pub ns_per_tick: f64,
    /// Smallest step, ns.
    pub resolution_ns: f64,
}

impl RunContext {
    /// What these readings say of the machine; `kept_quiet_ratio` is that of
    /// kept runs.
    pub fn from_readings(
        readings: &MachineReadings,
        kept_quiet_ratio: Option<f64>,
        ns_per_tick: f64,
        resolution_ns: f64,
    ) -> RunContext {
        RunContext {
            gate: readings.gate(kept_quiet_ratio),
            core_clock: readings.core_clock(),
            ns_per_tick,
            resolution_ns,
        }
    }

    /// The same with how far the core's clock moves between runs: quiet figures
    /// in ns are as uncertain as that.
    #[must_use]
    pub fn with_clock_movement(mut self, movement: Option<ClockMovement>) -> RunContext {
        if let Some(clock) = &mut self.core_clock {
            clock.between_runs = movement;
        }
        self
    }

    /// What the estimate of a cell needs to know.
    pub(crate) fn of_cell<'a>(&'a self, cell: &PlannedCell, state: &'a CellState) -> Context<'a> {
        Context {
            gate: &self.gate,
            core_clock: self.core_clock.as_ref(),
            ns_per_tick: self.ns_per_tick,
            resolution_ns: self.resolution_ns,
            ops_per_turn: state.ops_per_turn,
            bound: cell.bound,
            regime: cell.regime,
            workers: cell.workers,
            contradiction: state.contradiction.as_deref(),
            modes: &state.modes,
        }
    }

    /// The estimate of one cell.
    pub fn estimate(&self, cell: &PlannedCell, state: &CellState) -> Estimate {
        let context = self.of_cell(cell, state);
        let mut estimate = estimator::estimate(&state.samples, &context);
        if state.loops_alike {
            loop_cost::weigh(&mut estimate, &state.samples, &context);
        }
        state.judged(estimate).in_unit(&cell.unit)
    }
}
