//! What an instruction costs: the list of loop pairs, and Ash's integer
//! division, which takes its operand from the caller.

use crate::arch;

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
    /// The row's id without its group: `add_i32` (latency, a dependent chain),
    /// `add_i32/throughput` (independent chains).
    pub id: &'static str,
    /// Which operand values it works on, and why: one sentence.
    pub operands: &'static str,
    /// What is measured, as this architecture writes it, with any helper.
    pub instruction: &'static str,
    /// Operations in one turn of `single`; a turn of `double` has twice these.
    pub ops: u32,
    /// Whether both loops have the same body: no helper that `single` carries
    /// twice.
    pub alike: bool,
    /// What the CPU must have beyond the architecture's baseline: without it
    /// the loops end the program with SIGILL.
    pub needs: Option<Feature>,
    /// Runs the body unrolled U times for so many turns; zero do nothing.
    pub single: fn(turns: u64),
    /// Runs the body unrolled 2U times for so many turns; zero do nothing.
    pub double: fn(turns: u64),
}

/// An instruction set extension.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// As the vendor's manual names it: `POPCNT`.
    pub name: &'static str,
    /// Whether this CPU has it.
    pub is_here: fn() -> bool,
}

impl Pair {
    /// Why the loops can't run on this CPU, if they can't: the missing
    /// extension.
    pub fn missing(&self) -> Option<&'static str> {
        let needed = self.needs.filter(|feature| !(feature.is_here)());
        needed.map(|feature| feature.name)
    }
}

/// The pair of that id in [`CPU`] or [`CALL`](crate::CALL).
pub fn pair(id: &str) -> Option<&'static Pair> {
    let mut pairs = CPU.iter().chain(crate::call::CALL);
    pairs.find(|pair| pair.id == id)
}

/// Lists pairs: the id, the module under `arch::cpu` with the two loops, and
/// the sentence about operands.
macro_rules! pairs {
    (@needs) => { None };
    (@needs $needs:expr) => { $needs };
    ($($id:literal => $module:ident: $operands:expr $(, needs $needs:expr)?;)+) => {
        /// Every pair of loops of this crate, but the calls.
        ///
        /// For each operation of `cpu.*` its latency and its throughput; then
        /// `empty`, whose difference must be 0; Ash's floating-point divisions;
        /// and the copy of 16 bytes.
        pub static CPU: &[Pair] = &[$(Pair {
            id: $id,
            operands: $operands,
            instruction: arch::cpu::$module::INSTRUCTION,
            ops: arch::cpu::$module::OPS,
            alike: arch::cpu::$module::ALIKE,
            needs: pairs!(@needs $($needs)?),
            single: arch::cpu::$module::single,
            double: arch::cpu::$module::double,
        }),+];
    };
}

const ADD: &str = "A dense odd constant from a register is added again and again: a small \
    immediate would be folded away while renaming on recent Intel cores.";
const MUL: &str = "Multiplied by a dense odd constant: an odd product never runs out into zero.";
const BIT: &str = "XOR with a dense constant from another register: with itself it would only \
    be an idiom for zero.";
const POPCNT: &str = "The bits of the last count, which is between 1 and 64: the time of a count \
    does not depend on its operand.";
const DIV_I32: &str = "r = s / r with s = 2^31 - 1, so that r toggles between 41003 and 52373: \
    the divisor is the last quotient, as in LMbench, and quotients keep 16 bits.";
const DIV_I64: &str = "r = s / r with s = 2^62 - 1, so that r toggles between 2000000011 and \
    2305842996: the divisor is the last quotient, as in LMbench, and quotients keep 32 bits.";
const DIV_I32_THROUGHPUT: &str = "(2^31 - 1) / 41003 each time: the latency row's operands, with \
    quotients of 16 bits, since the time depends on their size.";
const DIV_I64_THROUGHPUT: &str = "(2^62 - 1) / 2000000011 each time: the latency row's operands, \
    with quotients of 32 bits, since the time depends on their size.";
const MOD_I32: &str = "r = (s % r) | 2^15 with s = 2^31 - 1, which keeps divisors at 16 bits: \
    LMbench's chain, with the OR as often in both loops, so that it drops out of the difference.";
const MOD_I64: &str = "r = (s % r) | 2^30 with s = 2^62 - 1, which keeps divisors at 31 bits: \
    LMbench's chain, with the OR as often in both loops, so that it drops out of the difference.";
const MOD_I32_THROUGHPUT: &str = "(2^31 - 1) % 41003 each time: the size of the latency row's \
    operands, since the time depends on it.";
const MOD_I64_THROUGHPUT: &str = "(2^62 - 1) % 2000000011 each time: the size of the latency \
    row's operands, since the time depends on it.";
const ADD_FLOAT: &str = "Plus e and minus e by turns, so that the value stays normal and its \
    mantissa full.";
const MUL_FLOAT: &str = "Times the golden ratio and times its inverse by turns, so that the value \
    stays normal and its mantissa full.";
const DIV_FLOAT: &str = "r = pi / r, which toggles between two full mantissas (1.23 and 2.54): \
    short ones divide faster on some cores.";
const DIV_FLOAT_THROUGHPUT: &str =
    "pi / 1.23 each time, both with full mantissas: short ones divide faster on some cores.";
const SQRT: &str = "x = sqrt(x) | dense mantissa, between 1.6 and 2, because roots of roots run \
    into 1.0: the OR is as often in both loops, so that it drops out of the difference.";
const SQRT_THROUGHPUT: &str = "The root of 1.65 each time, with a full mantissa, as the latency \
    row's: roots of roots would run into 1.0.";
const EMPTY: &str = "No operands, as there is no operation: the difference of the two loops must \
    come out as 0.";
const ASH_F64: &str = "1e8 / 42.3, both loaded from memory for each division and the results not \
    chained, as Ash's unoptimised loop does.";
const ASH_F64_FROM_INT: &str = "1e8 / (double)i with i counting the turns from 1, 1e8 loaded from \
    memory for each division and the results not chained, as Ash's loop does.";
const COPY_16: &str = "From 16 bytes into one block to 16 bytes into another, as Ash's: the size \
    is constant, so a compiler makes one vector load and one vector store of it.";

pairs! {
    "add_i32" => add_i32_latency: ADD;
    "add_i32/throughput" => add_i32_throughput: ADD;
    "mul_i32" => mul_i32_latency: MUL;
    "mul_i32/throughput" => mul_i32_throughput: MUL;
    "div_i32" => div_i32_latency: DIV_I32;
    "div_i32/throughput" => div_i32_throughput: DIV_I32_THROUGHPUT;
    "mod_i32" => mod_i32_latency: MOD_I32;
    "mod_i32/throughput" => mod_i32_throughput: MOD_I32_THROUGHPUT;
    "bit_i32" => bit_i32_latency: BIT;
    "bit_i32/throughput" => bit_i32_throughput: BIT;
    "add_i64" => add_i64_latency: ADD;
    "add_i64/throughput" => add_i64_throughput: ADD;
    "mul_i64" => mul_i64_latency: MUL;
    "mul_i64/throughput" => mul_i64_throughput: MUL;
    "div_i64" => div_i64_latency: DIV_I64;
    "div_i64/throughput" => div_i64_throughput: DIV_I64_THROUGHPUT;
    "mod_i64" => mod_i64_latency: MOD_I64;
    "mod_i64/throughput" => mod_i64_throughput: MOD_I64_THROUGHPUT;
    "bit_i64" => bit_i64_latency: BIT;
    "bit_i64/throughput" => bit_i64_throughput: BIT;
    "popcnt_i64" => popcnt_i64_latency: POPCNT, needs arch::cpu::POPCNT;
    "popcnt_i64/throughput" => popcnt_i64_throughput: POPCNT, needs arch::cpu::POPCNT;
    "add_f32" => add_f32_latency: ADD_FLOAT;
    "add_f32/throughput" => add_f32_throughput: ADD_FLOAT;
    "mul_f32" => mul_f32_latency: MUL_FLOAT;
    "mul_f32/throughput" => mul_f32_throughput: MUL_FLOAT;
    "div_f32" => div_f32_latency: DIV_FLOAT;
    "div_f32/throughput" => div_f32_throughput: DIV_FLOAT_THROUGHPUT;
    "add_f64" => add_f64_latency: ADD_FLOAT;
    "add_f64/throughput" => add_f64_throughput: ADD_FLOAT;
    "mul_f64" => mul_f64_latency: MUL_FLOAT;
    "mul_f64/throughput" => mul_f64_throughput: MUL_FLOAT;
    "div_f64" => div_f64_latency: DIV_FLOAT;
    "div_f64/throughput" => div_f64_throughput: DIV_FLOAT_THROUGHPUT;
    "sqrt_f64" => sqrt_f64_latency: SQRT;
    "sqrt_f64/throughput" => sqrt_f64_throughput: SQRT_THROUGHPUT;
    "empty" => empty: EMPTY;
    "div_f64_as_ash" => div_f64_as_ash: ASH_F64;
    "div_f64_from_int_as_ash" => div_f64_from_int_as_ash: ASH_F64_FROM_INT;
    "memcpy/16B" => memcpy_16: COPY_16;
}

/// Ash's integer division: ten of 1000000000 / i a turn, with i = `first`,
/// `first + 1` and so on from turn to turn.
///
/// Unsigned and 64 bits wide; the dividend is reloaded for each of the ten, so
/// results are not chained. The same i for the ten copies of a turn. Small
/// divisors cost differently: sample `first` across 1 to 1e8. Zero turns do
/// nothing.
///
/// # Panics
/// If i would be 0 or overflow.
#[inline(never)]
pub fn ash_div_u64_single(first: u64, turns: u64) {
    check_divisors(first, turns);
    if turns > 0 {
        arch::cpu::ash_div_u64_single(first, turns);
    }
}

/// [`ash_div_u64_single`] with twenty divisions a turn; the same i in the same
/// turn, so that the difference of the two is ten divisions a turn.
///
/// # Panics
/// If i would be 0 or overflow.
#[inline(never)]
pub fn ash_div_u64_double(first: u64, turns: u64) {
    check_divisors(first, turns);
    if turns > 0 {
        arch::cpu::ash_div_u64_double(first, turns);
    }
}

/// A division by zero traps on x86-64.
fn check_divisors(first: u64, turns: u64) {
    assert!(
        first > 0 && first.checked_add(turns).is_some(),
        "the divisors must be positive and not overflow"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_found() {
        for (index, one) in CPU.iter().enumerate() {
            assert!(CPU[index + 1..].iter().all(|other| other.id != one.id));
            assert!(core::ptr::eq(pair(one.id).expect("listed"), one));
        }
        assert!(pair("add_i33").is_none());
    }

    #[test]
    fn latency_and_throughput_of_every_operation() {
        let typed = [
            ("i32", &["add", "mul", "div", "mod", "bit"][..]),
            ("i64", &["add", "mul", "div", "mod", "bit", "popcnt"]),
            ("f32", &["add", "mul", "div"]),
            ("f64", &["add", "mul", "div", "sqrt"]),
        ];
        let mut rows = 0;
        for (width, operations) in typed {
            for operation in operations {
                for suffix in ["", "/throughput"] {
                    let found = CPU.iter().any(|pair| {
                        pair.id
                            .strip_prefix(operation)
                            .and_then(|rest| rest.strip_prefix('_'))
                            .and_then(|rest| rest.strip_prefix(width))
                            == Some(suffix)
                    });
                    assert!(found, "{operation}_{width}{suffix}");
                    rows += 1;
                }
            }
        }
        assert_eq!(CPU.len(), rows + 4, "and the four that stand alone");
    }

    #[test]
    fn a_missing_extension_is_named() {
        let pair = |is_here| Pair {
            id: "nothing",
            operands: "",
            instruction: "",
            ops: 1,
            alike: true,
            needs: Some(Feature {
                name: "NOTHING",
                is_here,
            }),
            single: |_| panic!("SIGILL"),
            double: |_| panic!("SIGILL"),
        };
        assert_eq!(pair(|| false).missing(), Some("NOTHING"));
        assert_eq!(pair(|| true).missing(), None);
        let add = super::pair("add_i32").expect("listed");
        assert_eq!(add.missing(), None, "the baseline has it");
    }

    #[test]
    fn operands_are_sentences() {
        for pair in CPU {
            assert!(pair.operands.ends_with('.'), "{}", pair.id);
            assert!(!pair.operands.contains("  "), "{}", pair.id);
            assert!(!pair.instruction.is_empty(), "{}", pair.id);
            assert!(pair.ops >= 10, "{}", pair.id);
        }
    }
}
