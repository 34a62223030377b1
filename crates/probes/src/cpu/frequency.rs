//! The core's clock.

use crate::engine::repeated::turns;
use meter::probe::{Derive, Probe};
use model::run::Bound;
use model::unit::Unit;

pub(crate) fn frequency_probe() -> Probe {
    Probe {
        title: "clock of the core, over the whole run".into(),
        operation: "One dependent addition, which takes one cycle.".into(),
        method: "A chain of dependent adds runs with every sample, as half of its canary; the row is the median of all of them with an interval from ten parts of the run, and the 1 % and 99 % quantiles in place of p10 and p90. The row can't check itself; a multiplication must take 3 such cycles, and an L1 hit 4 or 5.".into(),
        source: "The usual method where no cycle counter can be read; it works in a virtual machine too.".into(),
        unit: Unit::Frequency,
        bound: Bound::Memory,
        derive: Derive::CoreClock,
        make: Box::new(|_, _| {
            let ops = f64::from(kernels::ADDS_PER_TURN);
            turns(ops, kernels::dependent_adds).boxed()
        }),
        ..Probe::blank("cpu.frequency")
    }
}
