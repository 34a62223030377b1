//! Visits on a simulated machine: a clock, canaries and losses that follow a
//! script, so that what the meter makes of them can be asserted to the digit.

extern crate latlas_meter as meter;

mod clock;
mod contradictions;
mod losses;
mod machine;
mod neighbours;
mod sequence;
mod stamped;

use machine::*;
use meter::probe::{Event, Work, WorkError};
use meter::visit::{self, VisitOrder, Visited};
use model::context::Context;
use model::estimate::{Estimate, Verdict};
use model::estimator::estimate;
use model::gate::{Gate, GateState};
use model::machine_readings::MachineReadings;
use model::run::{Bound, Regime};
use model::sample::{Sample, flag};
use std::rc::Rc;

fn order(samples: u32) -> VisitOrder<'static> {
    VisitOrder {
        regime: Regime::Gated,
        samples,
        last_level_canary: false,
        wait_for_quiet: None,
        turns: None,
        double_first: false,
    }
}

fn visit_with(machine: &Rc<SimulatedMachine>, work: &mut Op, order: &VisitOrder) -> Visited {
    visitor(machine).visit(work, order)
}

/// Eight workers, some visits each.
fn simulated_samples(machine: &Rc<SimulatedMachine>, per_op: f64, paired: bool) -> Vec<Sample> {
    (0..8)
        .flat_map(|worker| {
            let mut work = Op { machine: machine.clone(), per_op, paired };
            let visited = visit_with(machine, &mut work, &order(12));
            let at_ms = (machine.now.get() as f64 * TICK_NS / 1e6) as u32;
            visited.samples.into_iter().map(move |mut sample| {
                sample.worker = worker;
                sample.at_ms = at_ms;
                sample
            })
        })
        .collect()
}

/// Among other rows, whose visits read the multiplications too.
fn judge(samples: &[Sample]) -> Estimate {
    let gate = Gate {
        multiply_ratio: Some(NONE.multiply),
        ..MachineReadings::from_samples(samples).gate(None)
    };
    judged_by(&gate, samples)
}

fn judged_by(gate: &Gate, samples: &[Sample]) -> Estimate {
    let clock = MachineReadings::from_samples(samples).core_clock();
    estimate(
        samples,
        &Context {
            core_clock: clock.as_ref(),
            ops_per_turn: 16.0,
            bound: Bound::Core,
            ..Context::plain(gate, Regime::Gated, TICK_NS)
        },
    )
}
