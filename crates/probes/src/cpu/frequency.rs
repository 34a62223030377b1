//! The core's clock.

use meter::probe::{Derive, Probe, Work};
use model::run::Bound;
use model::unit::Unit;

pub(crate) fn probe() -> Probe {
    Probe {
        title: "clock of the core, over the whole run".into(),
        operation: "One dependent addition, which takes one cycle.".into(),
        method: "A chain of dependent adds stands beside every sample of the run, as half of its canary; the row is the median of all of them with an interval from ten stretches of the run, and the 1 % and 99 % quantiles in place of p10 and p90. It can't check itself: that a multiplication takes 3 such cycles and an L1 hit 4 or 5 is the check.".into(),
        source: "The usual way to a frequency where no counter of cycles can be read; works in a virtual machine too.".into(),
        unit: Unit::Frequency,
        bound: Bound::Memory,
        derive: Derive::CoreClock,
        make: Box::new(|_, _| Ok(Box::new(Adds))),
        ..Probe::blank("cpu.frequency")
    }
}

struct Adds;

impl Work for Adds {
    fn ops_per_turn(&self) -> f64 {
        f64::from(kernels::ADDS_PER_TURN)
    }
    fn run(&mut self, turns: u64, _double: bool) {
        kernels::dependent_adds(turns);
    }
}
