//! Work that is a pair of loops of the kernels.

use kernels::Pair;
use meter::probe::Work;

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

/// The words for the difference method.
pub(crate) const DIFFERENCE: &str = "The body unrolled U and 2U times in two loops inside one bracket, in alternating order; the difference of the two divided by U leaves the loop's own cost out without an empty loop to subtract.";
