//! Work that is a pair of loops, U and 2U.

use super::reason::Reason;
use kernels::{Pair, UNROLL, unrolled};
use meter::probe::{Work, WorkError};

/// A pair of loops: the body U and 2U times a turn.
pub(crate) trait Loops {
    /// Operations in one turn of [`Loops::single`].
    fn ops(&self) -> u32 {
        UNROLL
    }
    /// Runs the body unrolled U times for so many turns.
    fn single(&self, turns: u64);
    /// Runs the body unrolled 2U times for so many turns.
    fn double(&self, turns: u64);
    /// Whether both loops hold the same body, so that what U takes besides its
    /// operations is the loop's own.
    fn alike(&self) -> bool {
        true
    }
    /// Whether the loops left things as they should.
    ///
    /// # Errors
    /// What is wrong; the row is then reported as not available.
    fn verify(&self) -> Result<(), WorkError> {
        Ok(())
    }
}

/// The work of a pair of loops.
pub(crate) struct Paired<L>(pub(crate) L);

impl<L: Loops> Work for Paired<L> {
    fn ops_per_turn(&self) -> f64 {
        f64::from(self.0.ops())
    }
    fn paired(&self) -> bool {
        true
    }
    fn loops_alike(&self) -> bool {
        self.0.alike()
    }
    fn restore(&mut self) {
        self.0.single(64);
        self.0.double(64);
    }
    fn run(&mut self, turns: u64, double: bool) {
        if double {
            self.0.double(turns);
        } else {
            self.0.single(turns);
        }
    }
    fn verify(&self) -> Result<(), WorkError> {
        self.0.verify()
    }
}

/// The work of a pair of loops in assembly.
///
/// # Errors
/// The CPU feature that it lacks here: the plan asks before, but a worker must
/// never end with SIGILL.
pub(crate) fn of_pair(pair: &'static Pair) -> Result<Box<dyn Work>, WorkError> {
    let lacks = |feature: &&str| sys::cpu_feature::is_present(feature) != Some(true);
    match pair.needs.filter(lacks) {
        None => Ok(Box::new(Paired(pair))),
        Some(feature) => Err(Reason::CpuLacks(feature).into()),
    }
}

impl Loops for &'static Pair {
    fn ops(&self) -> u32 {
        self.ops
    }
    fn single(&self, turns: u64) {
        (self.single)(turns);
    }
    fn double(&self, turns: u64) {
        (self.double)(turns);
    }
    fn alike(&self) -> bool {
        self.alike
    }
}

/// Two loops of the kernels over something that the row owns.
pub(crate) struct Over<T> {
    pub(crate) operand: T,
    pub(crate) single: fn(&T, u64),
    pub(crate) double: fn(&T, u64),
}

impl<T> Loops for Over<T> {
    fn single(&self, turns: u64) {
        (self.single)(&self.operand, turns);
    }
    fn double(&self, turns: u64) {
        (self.double)(&self.operand, turns);
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

impl<S: Short> Loops for Unrolled<S> {
    fn single(&self, turns: u64) {
        for _ in 0..turns {
            unrolled!(self.0.once());
        }
    }
    fn double(&self, turns: u64) {
        for _ in 0..turns {
            unrolled!(self.0.once());
            unrolled!(self.0.once());
        }
    }
}

/// The words for the difference method.
pub(crate) const DIFFERENCE: &str = "The body unrolled U and 2U times in two loops inside one bracket, in alternating order; the difference of the two divided by U leaves the loop's own cost out without an empty loop to subtract.";

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    struct Counting(Cell<u64>);

    impl Short for &Counting {
        fn once(&self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn a_turn_is_u_operations_or_twice_these() {
        let count = Counting(Cell::new(0));
        let mut work = Paired(Unrolled(&count));
        assert!(work.paired());
        let u = u64::from(UNROLL);
        assert_eq!(work.ops_per_turn(), f64::from(UNROLL));
        work.run(5, false);
        assert_eq!(count.0.replace(0), 5 * u);
        work.run(5, true);
        assert_eq!(count.0.replace(0), 10 * u);
        work.restore();
        assert_eq!(count.0.get(), 64 * 3 * u, "both loops are brought back");
    }

    #[test]
    fn a_loop_that_this_cpu_can_t_run_is_a_reason_and_no_crash() {
        static STRANGE: Pair = Pair {
            operands: "None.",
            instruction: "strange",
            ops: 16,
            alike: true,
            needs: Some("strange"),
            path: "strange",
            single: |_| panic!("it would end the program with SIGILL"),
            double: |_| panic!("it would end the program with SIGILL"),
        };
        let why = of_pair(&STRANGE).err().expect("no CPU has it");
        assert_eq!(why, Reason::CpuLacks("strange").into());
        assert!(of_pair(&kernels::cpu::ADD_I32.latency).is_ok());
    }

    #[test]
    fn loops_of_the_kernels_are_not_mixed_up() {
        let mut work = Paired(Over {
            operand: Cell::new((0, 0)),
            single: |seen, turns| seen.set((seen.get().0 + turns, seen.get().1)),
            double: |seen, turns| seen.set((seen.get().0, seen.get().1 + turns)),
        });
        work.run(3, false);
        work.run(4, true);
        assert_eq!(work.0.operand.get(), (3, 4));
        let pair = &kernels::cpu::DIV_F64_AS_ASH;
        assert_eq!(Paired(pair).ops_per_turn(), f64::from(pair.ops));
        assert_ne!(pair.ops, UNROLL, "or the line above shows nothing");
    }
}
