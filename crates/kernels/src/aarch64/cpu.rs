//! See `crate::cpu` for what the pairs are and `crate::operands` for the
//! values.
//!
//! Operands come in registers of the compiler's choice. Every instruction here
//! has a destination of its own, so nothing waits for what it overwrites.

use crate::cpu::Feature;
use crate::operands::*;
use core::arch::asm;

/// A loop of the given lines, counted down from `turns` (at least 1).
macro_rules! counted_loop {
    ($turns:expr, $times:expr, [$($line:expr),*], [$($once:expr),*], $($operands:tt)*) => {
        // SAFETY: works in registers that are declared below; the lines that
        // touch memory say where in the operands.
        unsafe {
            asm!(
                ".p2align 6",
                "2:",
                $times,
                $($line,)*
                ".endr",
                $($once,)*
                "subs {turns}, {turns}, #1",
                "b.ne 2b",
                turns = inout(reg) $turns => _,
                $($operands)*
                options(nostack),
            );
        }
    };
}

/// Defines a module with the two loops of a pair.
///
/// `16 = 8 x [lines]` says that the lines, which hold two operations, are
/// repeated 8 times in `single` and 16 times in `double`. A second list stands
/// for `double` where `single` carries its helper twice; lines after `then`
/// are run once a turn.
macro_rules! pair {
    ($name:ident: $instruction:literal, $ops:literal = $n:literal x [$($line:expr),*],
        then [$($once:expr),*], $($operands:tt)*) => {
        pair! { @ true $name: $instruction, $ops = $n x [$($line),*] [$($line),*]
            [$($once),*] { $($operands)* } }
    };
    ($name:ident: $instruction:literal, $ops:literal = $n:literal x [$($line:expr),*],
        $($operands:tt)*) => {
        pair! { @ true $name: $instruction, $ops = $n x [$($line),*] [$($line),*]
            [] { $($operands)* } }
    };
    ($name:ident: $instruction:literal, $ops:literal = $n:literal x
        single [$($single:expr),*], double [$($double:expr),*], $($operands:tt)*) => {
        pair! { @ false $name: $instruction, $ops = $n x [$($single),*] [$($double),*]
            [] { $($operands)* } }
    };
    (@ $alike:literal $name:ident: $instruction:literal, $ops:literal = $n:literal x
        [$($single:expr),*] [$($double:expr),*] $once:tt { $($operands:tt)* }) => {
        pub(crate) mod $name {
            #[allow(unused_imports, reason = "not every loop has operands")]
            use super::*;

            pub(crate) const INSTRUCTION: &str = $instruction;
            pub(crate) const OPS: u32 = $ops;
            pub(crate) const ALIKE: bool = $alike;

            #[inline(never)]
            pub(crate) fn single(turns: u64) {
                if turns > 0 {
                    counted_loop!(turns, concat!(".rept ", $n), [$($single),*], $once,
                        $($operands)*);
                }
            }

            #[inline(never)]
            pub(crate) fn double(turns: u64) {
                if turns > 0 {
                    counted_loop!(turns, concat!(".rept 2*", $n), [$($double),*], $once,
                        $($operands)*);
                }
            }
        }
    };
}

/// Defines the pair of a throughput: independent chains that all start from
/// the same value, 12 of integers (`a` to `l`) gone through twice a turn, or
/// 24 of floats (`a` to `x`), once by each of two lines. What they cover is in
/// `docs/method.md`, and `tests/disassembly.rs` counts them. Divisions and
/// roots have 12 or 16 destinations and the same operands each time.
macro_rules! throughput {
    ($name:ident: $instruction:literal, 2 x 12 chains [$($line:expr),*], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 24 = 2 x [$($line),*], reg $start,
            [a b c d e f g h i j k l] $($operands)* }
    };
    ($name:ident: $instruction:literal, 16 chains [$($line:expr),*], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 16 = 1 x [$($line),*], vreg $start,
            [a b c d e f g h i j k l m n o p] $($operands)* }
    };
    ($name:ident: $instruction:literal, 24 chains [$one:expr, $other:expr], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 48 = 1 x [$one, $other], vreg $start,
            [a b c d e f g h i j k l m n o p q r s t u v w x] $($operands)* }
    };
    (@ $name:ident: $instruction:literal, $ops:literal = $n:literal x [$($line:expr),*],
        $class:ident $start:expr, [$($chain:ident)+] $($operands:tt)*) => {
        pair! { $name: $instruction, $ops = $n x [$($line),*],
            $($chain = inout($class) $start => _,)+
            $($operands)* }
    };
}

/// One instruction for each of so many chains: its name, the modifier of its
/// registers, and its other operand. The chain is the destination and the
/// first source.
macro_rules! chains {
    (12 $($part:literal),+) => {
        chains!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l")
    };
    (24 $($part:literal),+) => {
        chains!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l" "m" "n" "o" "p"
            "q" "r" "s" "t" "u" "v" "w" "x")
    };
    (@ $parts:tt $($chain:literal)+) => {
        concat!($(chains!(@chain $parts $chain)),+)
    };
    (@chain ($name:literal, $modifier:literal, $other:literal) $chain:literal) => {
        concat!($name, " {", $chain, $modifier, "}, {", $chain, $modifier, "}, ", $other, "\n")
    };
}

/// One instruction for each of 12 or 16 destinations, from the same
/// operands each time: nothing to wait for.
macro_rules! copies {
    (12 $($part:literal),+) => {
        copies!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l")
    };
    (16 $($part:literal),+) => {
        copies!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l" "m" "n" "o" "p")
    };
    (@ $parts:tt $($chain:literal)+) => {
        concat!($(copies!(@copy $parts $chain)),+)
    };
    (@copy ($name:literal, $modifier:literal, $others:literal) $chain:literal) => {
        concat!($name, " {", $chain, $modifier, "}, ", $others, "\n")
    };
}

/// A count of bits for each of these chains. The vector register between is
/// written afresh each time, so that it ties none to another.
macro_rules! counts {
    ($($chain:literal)+) => {
        concat!($("fmov {v:d}, {", $chain, ":x}\ncnt {v:v}.8b, {v:v}.8b\n",
            "addv {v:b}, {v:v}.8b\nfmov {", $chain, ":w}, {v:s}\n"),+)
    };
}

// Integers, 32 bits.

pair! { add_i32_latency: "add w, w, w", 16 = 16 x ["add {x:w}, {x:w}, {y:w}"],
x = inout(reg) DENSE_32 => _, y = in(reg) DENSE_32, }

throughput! { add_i32_throughput: "add w, w, w", 2 x 12 chains [chains!(12 "add", ":w", "{y:w}")],
DENSE_32, y = in(reg) DENSE_32, }

pair! { mul_i32_latency: "mul w, w, w", 16 = 16 x ["mul {x:w}, {x:w}, {y:w}"],
x = inout(reg) DENSE_32 => _, y = in(reg) DENSE_32, }

throughput! { mul_i32_throughput: "mul w, w, w", 2 x 12 chains [chains!(12 "mul", ":w", "{y:w}")],
DENSE_32, y = in(reg) DENSE_32, }

pair! { div_i32_latency: "sdiv w, w, w", 16 = 16 x ["sdiv {r:w}, {s:w}, {r:w}"],
s = in(reg) DIVIDEND_32, r = inout(reg) DIVISOR_32 => _, }

throughput! { div_i32_throughput: "sdiv w, w, w", 2 x 12 chains [copies!(12 "sdiv", ":w", "{s:w}, {r:w}")],
DIVISOR_32, s = in(reg) DIVIDEND_32, r = in(reg) DIVISOR_32, }

pair! { mod_i32_latency: "sdiv w, w, w; msub w, w, w, w (with orr w, w, w)", 16 = 16 x
single ["sdiv {q:w}, {s:w}, {r:w}", "msub {r:w}, {q:w}, {r:w}, {s:w}",
    "orr {r:w}, {r:w}, {floor:w}", "orr {r:w}, {r:w}, {floor:w}"],
double ["sdiv {q:w}, {s:w}, {r:w}", "msub {r:w}, {q:w}, {r:w}, {s:w}",
    "orr {r:w}, {r:w}, {floor:w}"],
s = in(reg) DIVIDEND_32, r = inout(reg) DIVISOR_32 => _, q = out(reg) _,
floor = in(reg) REMAINDER_FLOOR_32, }

throughput! { mod_i32_throughput: "sdiv w, w, w; msub w, w, w, w", 2 x 12 chains [
copies!(12 "sdiv", ":w", "{s:w}, {r:w}"), chains!(12 "msub", ":w", "{r:w}, {s:w}")],
DIVISOR_32, s = in(reg) DIVIDEND_32, r = in(reg) DIVISOR_32, }

pair! { bit_i32_latency: "eor w, w, w", 16 = 16 x ["eor {x:w}, {x:w}, {y:w}"],
x = inout(reg) 1u32 => _, y = in(reg) DENSE_32, }

throughput! { bit_i32_throughput: "eor w, w, w", 2 x 12 chains [chains!(12 "eor", ":w", "{y:w}")],
1u32, y = in(reg) DENSE_32, }

// Integers, 64 bits.

pair! { add_i64_latency: "add x, x, x", 16 = 16 x ["add {x:x}, {x:x}, {y:x}"],
x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }

throughput! { add_i64_throughput: "add x, x, x", 2 x 12 chains [chains!(12 "add", ":x", "{y:x}")],
DENSE_64, y = in(reg) DENSE_64, }

pair! { mul_i64_latency: "mul x, x, x", 16 = 16 x ["mul {x:x}, {x:x}, {y:x}"],
x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }

throughput! { mul_i64_throughput: "mul x, x, x", 2 x 12 chains [chains!(12 "mul", ":x", "{y:x}")],
DENSE_64, y = in(reg) DENSE_64, }

pair! { div_i64_latency: "sdiv x, x, x", 16 = 16 x ["sdiv {r:x}, {s:x}, {r:x}"],
s = in(reg) DIVIDEND_64, r = inout(reg) DIVISOR_64 => _, }

throughput! { div_i64_throughput: "sdiv x, x, x", 2 x 12 chains [copies!(12 "sdiv", ":x", "{s:x}, {r:x}")],
DIVISOR_64, s = in(reg) DIVIDEND_64, r = in(reg) DIVISOR_64, }

pair! { mod_i64_latency: "sdiv x, x, x; msub x, x, x, x (with orr x, x, x)", 16 = 16 x
single ["sdiv {q:x}, {s:x}, {r:x}", "msub {r:x}, {q:x}, {r:x}, {s:x}",
    "orr {r:x}, {r:x}, {floor:x}", "orr {r:x}, {r:x}, {floor:x}"],
double ["sdiv {q:x}, {s:x}, {r:x}", "msub {r:x}, {q:x}, {r:x}, {s:x}",
    "orr {r:x}, {r:x}, {floor:x}"],
s = in(reg) DIVIDEND_64, r = inout(reg) DIVISOR_64 => _, q = out(reg) _,
floor = in(reg) REMAINDER_FLOOR_64, }

throughput! { mod_i64_throughput: "sdiv x, x, x; msub x, x, x, x", 2 x 12 chains [
copies!(12 "sdiv", ":x", "{s:x}, {r:x}"), chains!(12 "msub", ":x", "{r:x}, {s:x}")],
DIVISOR_64, s = in(reg) DIVIDEND_64, r = in(reg) DIVISOR_64, }

pair! { bit_i64_latency: "eor x, x, x", 16 = 16 x ["eor {x:x}, {x:x}, {y:x}"],
x = inout(reg) 1u64 => _, y = in(reg) DENSE_64, }

throughput! { bit_i64_throughput: "eor x, x, x", 2 x 12 chains [chains!(12 "eor", ":x", "{y:x}")],
1u64, y = in(reg) DENSE_64, }

/// The vector count is in the architecture's baseline.
pub(crate) const POPCNT: Option<Feature> = None;

// As compilers write it without FEAT_CSSC: through a vector register.
pair! { popcnt_i64_latency: "cnt v.8b, v.8b (with fmov d, x; addv b, v.8b; fmov w, s)", 16 = 16 x
["fmov {v:d}, {x:x}", "cnt {v:v}.8b, {v:v}.8b", "addv {v:b}, {v:v}.8b", "fmov {x:w}, {v:s}"],
x = inout(reg) DENSE_64 => _, v = out(vreg) _, }

throughput! { popcnt_i64_throughput: "cnt v.8b, v.8b (with fmov d, x; addv b, v.8b; fmov w, s)",
2 x 12 chains [counts!("a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l")],
DENSE_64, v = out(vreg) _, }

// Floats, 32 bits.

pair! { add_f32_latency: "fadd s, s, s", 16 = 8 x
["fadd {x:s}, {x:s}, {y:s}", "fadd {x:s}, {x:s}, {z:s}"],
x = inout(vreg) START_F32 => _, y = in(vreg) ADDEND_F32, z = in(vreg) -ADDEND_F32, }

throughput! { add_f32_throughput: "fadd s, s, s", 24 chains
[chains!(24 "fadd", ":s", "{y:s}"), chains!(24 "fadd", ":s", "{z:s}")],
START_F32, y = in(vreg) ADDEND_F32, z = in(vreg) -ADDEND_F32, }

pair! { mul_f32_latency: "fmul s, s, s", 16 = 8 x
["fmul {x:s}, {x:s}, {y:s}", "fmul {x:s}, {x:s}, {z:s}"],
x = inout(vreg) START_F32 => _, y = in(vreg) FACTOR_F32, z = in(vreg) INVERSE_F32, }

throughput! { mul_f32_throughput: "fmul s, s, s", 24 chains
[chains!(24 "fmul", ":s", "{y:s}"), chains!(24 "fmul", ":s", "{z:s}")],
START_F32, y = in(vreg) FACTOR_F32, z = in(vreg) INVERSE_F32, }

pair! { div_f32_latency: "fdiv s, s, s", 16 = 16 x ["fdiv {r:s}, {s:s}, {r:s}"],
r = inout(vreg) START_F32 => _, s = in(vreg) DIVIDEND_F32, }

throughput! { div_f32_throughput: "fdiv s, s, s", 16 chains
[copies!(16 "fdiv", ":s", "{s:s}, {y:s}")],
START_F32, s = in(vreg) DIVIDEND_F32, y = in(vreg) START_F32, }

// Floats, 64 bits.

pair! { add_f64_latency: "fadd d, d, d", 16 = 8 x
["fadd {x:d}, {x:d}, {y:d}", "fadd {x:d}, {x:d}, {z:d}"],
x = inout(vreg) START_F64 => _, y = in(vreg) ADDEND_F64, z = in(vreg) -ADDEND_F64, }

throughput! { add_f64_throughput: "fadd d, d, d", 24 chains
[chains!(24 "fadd", ":d", "{y:d}"), chains!(24 "fadd", ":d", "{z:d}")],
START_F64, y = in(vreg) ADDEND_F64, z = in(vreg) -ADDEND_F64, }

pair! { mul_f64_latency: "fmul d, d, d", 16 = 8 x
["fmul {x:d}, {x:d}, {y:d}", "fmul {x:d}, {x:d}, {z:d}"],
x = inout(vreg) START_F64 => _, y = in(vreg) FACTOR_F64, z = in(vreg) INVERSE_F64, }

throughput! { mul_f64_throughput: "fmul d, d, d", 24 chains
[chains!(24 "fmul", ":d", "{y:d}"), chains!(24 "fmul", ":d", "{z:d}")],
START_F64, y = in(vreg) FACTOR_F64, z = in(vreg) INVERSE_F64, }

pair! { div_f64_latency: "fdiv d, d, d", 16 = 16 x ["fdiv {r:d}, {s:d}, {r:d}"],
r = inout(vreg) START_F64 => _, s = in(vreg) DIVIDEND_F64, }

throughput! { div_f64_throughput: "fdiv d, d, d", 16 chains
[copies!(16 "fdiv", ":d", "{s:d}, {y:d}")],
START_F64, s = in(vreg) DIVIDEND_F64, y = in(vreg) START_F64, }

pair! { sqrt_f64_latency: "fsqrt d, d (with orr v.8b, v.8b, v.8b)", 16 = 16 x
single ["fsqrt {x:d}, {x:d}", "orr {x:v}.8b, {x:v}.8b, {floor:v}.8b", "orr {x:v}.8b, {x:v}.8b, {floor:v}.8b"],
double ["fsqrt {x:d}, {x:d}", "orr {x:v}.8b, {x:v}.8b, {floor:v}.8b"],
x = inout(vreg) START_F64 => _, floor = in(vreg) SQRT_FLOOR_F64, }

throughput! { sqrt_f64_throughput: "fsqrt d, d", 16 chains [copies!(16 "fsqrt", ":d", "{s:d}")],
START_F64, s = in(vreg) RADICAND_F64, }

// The others.

pair! { empty: "nothing", 16 = 16 x [], }

pair! { div_f64_as_ash: "fdiv d, d, d (with two loads)", 10 = 10 x
["ldr {a:d}, [{p}]", "ldr {b:d}, [{p}, #8]", "fdiv {a:d}, {a:d}, {b:d}"],
p = in(reg) &ASH_F64, a = out(vreg) _, b = out(vreg) _, }

pair! { div_f64_from_int_as_ash: "fdiv d, d, d (with scvtf d, x and a load)", 10 = 10 x
["ldr {a:d}, [{p}]", "scvtf {b:d}, {i:x}", "fdiv {a:d}, {a:d}, {b:d}"],
then ["add {i:x}, {i:x}, #1"],
p = in(reg) &ASH_F64, i = inout(reg) 1u64 => _, a = out(vreg) _, b = out(vreg) _, }

// Blocks of 32 bytes; the copy is from and to their second halves.
pair! { memcpy_16: "ldr q, m128; str q, m128", 10 = 10 x
["ldr {a:q}, [{from}, #16]", "str {a:q}, [{to}, #16]"],
from = in(reg) &Block([1; 32]), to = in(reg) &mut Block([0; 32]), a = out(vreg) _, }

/// Defines Ash's integer division, so many a turn.
macro_rules! ash_div_u64 {
    ($name:ident, $count:literal) => {
        /// `turns` is at least 1, and no divisor overflows.
        #[inline(always)]
        pub(crate) fn $name(first: u64, turns: u64) {
            counted_loop!(turns, concat!(".rept ", $count),
                ["udiv {quotient}, {dividend}, {i}"], ["add {i}, {i}, #1"],
                i = inout(reg) first => _,
                dividend = in(reg) ASH_U64,
                quotient = out(reg) _,
            );
        }
    };
}

ash_div_u64!(ash_div_u64_single, 10);
ash_div_u64!(ash_div_u64_double, 20);
