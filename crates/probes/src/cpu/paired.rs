//! Work that is a pair of loops of the kernels.

use kernels::Pair;
use meter::probe::{Derive, Effort, Probe, Shape, Work};
use model::run::{Bound, Regime, Scale};
use model::unit::Unit;

/// A pair of loops, U and 2U.
pub(crate) struct Paired(pub(crate) &'static Pair);

impl Work for Paired {
    fn ops_per_turn(&self) -> f64 {
        f64::from(self.0.ops)
    }
    fn paired(&self) -> bool {
        true
    }
    fn restore(&mut self) {
        (self.0.single)(64);
        (self.0.double)(64);
    }
    fn run(&mut self, turns: u64, double: bool) {
        let body = if double { self.0.double } else { self.0.single };
        body(turns);
    }
}

/// The usual frame of a probe of this group; texts and work are the caller's.
pub(crate) fn frame(id: impl Into<meter::probe::Text>) -> Probe {
    Probe {
        id: id.into(),
        variants: Vec::new(),
        title: "".into(),
        operation: "".into(),
        method: "".into(),
        source: "".into(),
        unit: Unit::Time,
        bound: Bound::Core,
        regime: Regime::Gated,
        since: Scale::Quick,
        shape: Shape::Figure,
        effort: Effort::SCALAR,
        derive: Derive::Nothing,
        second_buffer: false,
        unavailable: |_| None,
        make: Box::new(|_, _| Err("no work was given to this probe".into())),
    }
}

/// The words for the difference method.
pub(crate) const DIFFERENCE: &str = "The body unrolled U and 2U times in two loops inside one bracket, in alternating order; the difference of the two divided by U leaves the loop's own cost out without an empty loop to subtract.";
