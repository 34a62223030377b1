//! Work that is a pair of loops, U and 2U.

use kernels::{Pair, UNROLL, unrolled};
use meter::probe::Work;

/// A pair of loops of the kernels.
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

/// A short operation in compiled Rust, which the kernels can't hold because it
/// is the standard library's or the system's.
pub(crate) trait Short {
    /// Performs it once. To be inlined always, and to have an effect that no
    /// compiler may leave out.
    fn once(&self);
}

/// The pair of loops of a short operation.
pub(crate) struct Unrolled<S>(pub(crate) S);

impl<S: Short> Work for Unrolled<S> {
    fn ops_per_turn(&self) -> f64 {
        f64::from(UNROLL)
    }
    fn paired(&self) -> bool {
        true
    }
    fn restore(&mut self) {
        self.run(64, false);
        self.run(64, true);
    }
    fn run(&mut self, turns: u64, double: bool) {
        let short = &self.0;
        if double {
            for _ in 0..turns {
                unrolled!(short.once());
                unrolled!(short.once());
            }
        } else {
            for _ in 0..turns {
                unrolled!(short.once());
            }
        }
    }
}

/// The words for the difference method.
pub(crate) const DIFFERENCE: &str = "The body unrolled U and 2U times in two loops inside one bracket, in alternating order; the difference of the two divided by U leaves the loop's own cost out without an empty loop to subtract.";
