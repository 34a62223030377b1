//! Two loops with the same body, whose difference is the body alone.

/// Two loops with the same body, unrolled U and 2U times.
///
/// `(T(double) - T(single)) / (ops * turns)`, both run for the same number of
/// turns, is the cost of one operation without the loop's own.
///
/// In a latency chain that needs a helper (the OR that keeps a remainder from
/// shrinking), `single` carries the helper twice per operation. Both loops then
/// hold as many helpers, and the difference is the operation alone.
#[derive(Debug)]
pub struct Pair {
    /// Which operand values it works on, and why: one sentence.
    pub operands: &'static str,
    /// What is measured, as this architecture writes it, with any helper.
    pub instruction: &'static str,
    /// Operations in one turn of `single`; a turn of `double` has twice these.
    pub ops: u32,
    /// Whether both loops have the same body: no helper that `single` carries
    /// twice.
    pub alike: bool,
    /// The CPU feature beyond the architecture's baseline that the loops need,
    /// by the name of `std::arch`: without it they end the program with SIGILL.
    pub needs: Option<&'static str>,
    /// Module that holds the loops, for tests of the code that ships.
    pub path: &'static str,
    /// Runs the body unrolled U times for so many turns; zero do nothing.
    pub single: fn(turns: u64),
    /// Runs the body unrolled 2U times for so many turns; zero do nothing.
    pub double: fn(turns: u64),
}

/// Gives a module with the loops `single` and `double` the function `pair`,
/// which describes them.
macro_rules! pair_of_module {
    ($instruction:literal, $ops:expr, $alike:literal) => {
        pub(crate) const fn pair(
            operands: &'static str,
            needs: Option<&'static str>,
        ) -> crate::pair::Pair {
            crate::pair::Pair {
                operands,
                instruction: $instruction,
                ops: $ops,
                alike: $alike,
                needs,
                path: module_path!(),
                single,
                double,
            }
        }
    };
}
