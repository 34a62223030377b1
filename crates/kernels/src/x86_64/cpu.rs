//! See `crate::cpu` for what the pairs are and `crate::operands` for the
//! values.
//!
//! Operands come in registers of the compiler's choice, except where the
//! instruction itself insists (`div`: rax and rdx). No instruction here writes
//! only a part of a register whose rest it would have to wait for:
//! 32-bit results clear the upper half, and a `movaps` or `xorps` comes before
//! the conversions and roots that would keep the upper half of a vector.

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
                "dec {turns}",
                "jnz 2b",
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
/// 14 of floats (`a` to `n`), once by each of two lines. That is all registers
/// but the counter's and the other operands'. What they cover is in
/// `docs/method.md`, and `tests/disassembly.rs` counts them.
macro_rules! throughput {
    ($name:ident: $instruction:literal, 2 x 12 chains [$line:expr], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 24 = 2 x [$line], reg $start,
            [a b c d e f g h i j k l] $($operands)* }
    };
    ($name:ident: $instruction:literal, 14 chains [$one:expr, $other:expr], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 28 = 1 x [$one, $other], xmm_reg $start,
            [a b c d e f g h i j k l m n] $($operands)* }
    };
    (@ $name:ident: $instruction:literal, $ops:literal = $n:literal x [$($line:expr),*],
        $class:ident $start:expr, [$($chain:ident)+] $($operands:tt)*) => {
        pair! { $name: $instruction, $ops = $n x [$($line),*],
            $($chain = inout($class) $start => _,)+
            $($operands)* }
    };
}

/// Defines the pair of a throughput without chains: 16 operations with eight
/// destinations, each from a fresh copy of the same operand, so that none
/// waits for another.
macro_rules! unchained {
    ($name:ident: $instruction:literal, [$line:expr], $($operands:tt)*) => {
        pair! { $name: $instruction, 16 = 2 x [$line],
            a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
            e = out(xmm_reg) _, f = out(xmm_reg) _, g = out(xmm_reg) _, h = out(xmm_reg) _,
            $($operands)* }
    };
}

/// One instruction for each of 8, 12 or 14 chains, with the name of the chain
/// in the gaps.
macro_rules! chains {
    (8 $($part:literal),+) => {
        chains!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h")
    };
    (12 $($part:literal),+) => {
        chains!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l")
    };
    (14 $($part:literal),+) => {
        chains!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l" "m" "n")
    };
    (@ $parts:tt $($chain:literal)+) => {
        concat!($(chains!(@chain $parts $chain)),+)
    };
    (@chain ($head:literal, $tail:literal) $chain:literal) => {
        concat!($head, $chain, $tail, "\n")
    };
    (@chain ($copy:literal, $head:literal, $tail:literal) $chain:literal) => {
        concat!($copy, $chain, $head, $chain, $tail, "\n")
    };
}

// Integers, 32 bits.

pair! { add_i32_latency: "add r32, r32", 16 = 16 x ["add {x:e}, {y:e}"],
x = inout(reg) DENSE_32 => _, y = in(reg) DENSE_32, }

throughput! { add_i32_throughput: "add r32, r32", 2 x 12 chains [chains!(12 "add {", ":e}, {y:e}")],
DENSE_32, y = in(reg) DENSE_32, }

pair! { mul_i32_latency: "imul r32, r32", 16 = 16 x ["imul {x:e}, {y:e}"],
x = inout(reg) DENSE_32 => _, y = in(reg) DENSE_32, }

throughput! { mul_i32_throughput: "imul r32, r32", 2 x 12 chains [chains!(12 "imul {", ":e}, {y:e}")],
DENSE_32, y = in(reg) DENSE_32, }

// The quotient has to get from eax to the divisor's register: a move, which
// some cores do while renaming and some don't. Twice in `single`.
pair! { div_i32_latency: "idiv r32 (with the move of its quotient)", 16 = 16 x
single ["mov eax, {s:e}", "cdq", "idiv {r:e}", "mov edx, eax", "mov {r:e}, edx"],
double ["mov eax, {s:e}", "cdq", "idiv {r:e}", "mov {r:e}, eax"],
s = in(reg) DIVIDEND_32, r = inout(reg) DIVISOR_32 => _,
out("eax") _, out("edx") _, }

pair! { div_i32_throughput: "idiv r32", 16 = 16 x ["mov eax, {s:e}", "cdq", "idiv {r:e}"],
s = in(reg) DIVIDEND_32, r = in(reg) DIVISOR_32, out("eax") _, out("edx") _, }

pair! { mod_i32_latency: "idiv r32 (remainder; with or r32, r32)", 16 = 16 x
single ["mov eax, {s:e}", "cdq", "idiv {r:e}", "mov eax, edx", "or eax, {floor:e}",
    "mov {r:e}, eax", "or {r:e}, {floor:e}"],
double ["mov eax, {s:e}", "cdq", "idiv {r:e}", "mov {r:e}, edx", "or {r:e}, {floor:e}"],
s = in(reg) DIVIDEND_32, r = inout(reg) DIVISOR_32 => _,
floor = in(reg) REMAINDER_FLOOR_32, out("eax") _, out("edx") _, }

pair! { mod_i32_throughput: "idiv r32 (remainder)", 16 = 16 x
["mov eax, {s:e}", "cdq", "idiv {r:e}"],
s = in(reg) DIVIDEND_32, r = in(reg) DIVISOR_32, out("eax") _, out("edx") _, }

pair! { bit_i32_latency: "xor r32, r32", 16 = 16 x ["xor {x:e}, {y:e}"],
x = inout(reg) 1u32 => _, y = in(reg) DENSE_32, }

throughput! { bit_i32_throughput: "xor r32, r32", 2 x 12 chains [chains!(12 "xor {", ":e}, {y:e}")],
1u32, y = in(reg) DENSE_32, }

// Integers, 64 bits.

pair! { add_i64_latency: "add r64, r64", 16 = 16 x ["add {x}, {y}"],
x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }

throughput! { add_i64_throughput: "add r64, r64", 2 x 12 chains [chains!(12 "add {", "}, {y}")],
DENSE_64, y = in(reg) DENSE_64, }

pair! { mul_i64_latency: "imul r64, r64", 16 = 16 x ["imul {x}, {y}"],
x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }

throughput! { mul_i64_throughput: "imul r64, r64", 2 x 12 chains [chains!(12 "imul {", "}, {y}")],
DENSE_64, y = in(reg) DENSE_64, }

pair! { div_i64_latency: "idiv r64 (with the move of its quotient)", 16 = 16 x
single ["mov rax, {s}", "cqo", "idiv {r}", "mov rdx, rax", "mov {r}, rdx"],
double ["mov rax, {s}", "cqo", "idiv {r}", "mov {r}, rax"],
s = in(reg) DIVIDEND_64, r = inout(reg) DIVISOR_64 => _,
out("rax") _, out("rdx") _, }

pair! { div_i64_throughput: "idiv r64", 16 = 16 x ["mov rax, {s}", "cqo", "idiv {r}"],
s = in(reg) DIVIDEND_64, r = in(reg) DIVISOR_64, out("rax") _, out("rdx") _, }

pair! { mod_i64_latency: "idiv r64 (remainder; with or r64, r64)", 16 = 16 x
single ["mov rax, {s}", "cqo", "idiv {r}", "mov rax, rdx", "or rax, {floor}",
    "mov {r}, rax", "or {r}, {floor}"],
double ["mov rax, {s}", "cqo", "idiv {r}", "mov {r}, rdx", "or {r}, {floor}"],
s = in(reg) DIVIDEND_64, r = inout(reg) DIVISOR_64 => _,
floor = in(reg) REMAINDER_FLOOR_64, out("rax") _, out("rdx") _, }

pair! { mod_i64_throughput: "idiv r64 (remainder)", 16 = 16 x
["mov rax, {s}", "cqo", "idiv {r}"],
s = in(reg) DIVIDEND_64, r = in(reg) DIVISOR_64, out("rax") _, out("rdx") _, }

pair! { bit_i64_latency: "xor r64, r64", 16 = 16 x ["xor {x}, {y}"],
x = inout(reg) 1u64 => _, y = in(reg) DENSE_64, }

throughput! { bit_i64_throughput: "xor r64, r64", 2 x 12 chains [chains!(12 "xor {", "}, {y}")],
1u64, y = in(reg) DENSE_64, }

/// `popcnt` is not in the architecture's baseline.
pub(crate) const POPCNT: Option<Feature> = Some(Feature {
    name: "POPCNT",
    // Bit 23 of ECX in leaf 1.
    is_here: || core::arch::x86_64::__cpuid(1).ecx & (1 << 23) != 0,
});

pair! { popcnt_i64_latency: "popcnt r64, r64", 16 = 16 x ["popcnt {x}, {x}"],
x = inout(reg) DENSE_64 => _, }

throughput! { popcnt_i64_throughput: "popcnt r64, r64", 2 x 12 chains
[chains!(12 "popcnt {", "}, {", "}")], DENSE_64, }

// Floats, 32 bits.

pair! { add_f32_latency: "addss xmm, xmm", 16 = 8 x ["addss {x}, {y}", "addss {x}, {z}"],
x = inout(xmm_reg) START_F32 => _, y = in(xmm_reg) ADDEND_F32, z = in(xmm_reg) -ADDEND_F32, }

throughput! { add_f32_throughput: "addss xmm, xmm", 14 chains
[chains!(14 "addss {", "}, {y}"), chains!(14 "addss {", "}, {z}")],
START_F32, y = in(xmm_reg) ADDEND_F32, z = in(xmm_reg) -ADDEND_F32, }

pair! { mul_f32_latency: "mulss xmm, xmm", 16 = 8 x ["mulss {x}, {y}", "mulss {x}, {z}"],
x = inout(xmm_reg) START_F32 => _, y = in(xmm_reg) FACTOR_F32, z = in(xmm_reg) INVERSE_F32, }

throughput! { mul_f32_throughput: "mulss xmm, xmm", 14 chains
[chains!(14 "mulss {", "}, {y}"), chains!(14 "mulss {", "}, {z}")],
START_F32, y = in(xmm_reg) FACTOR_F32, z = in(xmm_reg) INVERSE_F32, }

// The copies of the dividend wait for nothing, so they are not in the chain.
pair! { div_f32_latency: "divss xmm, xmm", 16 = 8 x
["movaps {b}, {s}", "divss {b}, {a}", "movaps {a}, {s}", "divss {a}, {b}"],
a = inout(xmm_reg) START_F32 => _, b = out(xmm_reg) _, s = in(xmm_reg) DIVIDEND_F32, }

unchained! { div_f32_throughput: "divss xmm, xmm",
[chains!(8 "movaps {", "}, {s}\ndivss {", "}, {r}")],
s = in(xmm_reg) DIVIDEND_F32, r = in(xmm_reg) START_F32, }

// Floats, 64 bits.

pair! { add_f64_latency: "addsd xmm, xmm", 16 = 8 x ["addsd {x}, {y}", "addsd {x}, {z}"],
x = inout(xmm_reg) START_F64 => _, y = in(xmm_reg) ADDEND_F64, z = in(xmm_reg) -ADDEND_F64, }

throughput! { add_f64_throughput: "addsd xmm, xmm", 14 chains
[chains!(14 "addsd {", "}, {y}"), chains!(14 "addsd {", "}, {z}")],
START_F64, y = in(xmm_reg) ADDEND_F64, z = in(xmm_reg) -ADDEND_F64, }

pair! { mul_f64_latency: "mulsd xmm, xmm", 16 = 8 x ["mulsd {x}, {y}", "mulsd {x}, {z}"],
x = inout(xmm_reg) START_F64 => _, y = in(xmm_reg) FACTOR_F64, z = in(xmm_reg) INVERSE_F64, }

throughput! { mul_f64_throughput: "mulsd xmm, xmm", 14 chains
[chains!(14 "mulsd {", "}, {y}"), chains!(14 "mulsd {", "}, {z}")],
START_F64, y = in(xmm_reg) FACTOR_F64, z = in(xmm_reg) INVERSE_F64, }

pair! { div_f64_latency: "divsd xmm, xmm", 16 = 8 x
["movaps {b}, {s}", "divsd {b}, {a}", "movaps {a}, {s}", "divsd {a}, {b}"],
a = inout(xmm_reg) START_F64 => _, b = out(xmm_reg) _, s = in(xmm_reg) DIVIDEND_F64, }

unchained! { div_f64_throughput: "divsd xmm, xmm",
[chains!(8 "movaps {", "}, {s}\ndivsd {", "}, {r}")],
s = in(xmm_reg) DIVIDEND_F64, r = in(xmm_reg) START_F64, }

pair! { sqrt_f64_latency: "sqrtsd xmm, xmm (with orpd xmm, xmm)", 16 = 16 x
single ["sqrtsd {x}, {x}", "orpd {x}, {floor}", "orpd {x}, {floor}"],
double ["sqrtsd {x}, {x}", "orpd {x}, {floor}"],
x = inout(xmm_reg) START_F64 => _, floor = in(xmm_reg) SQRT_FLOOR_F64, }

unchained! { sqrt_f64_throughput: "sqrtsd xmm, xmm",
[chains!(8 "movaps {", "}, {s}\nsqrtsd {", "}, {s}")],
s = in(xmm_reg) RADICAND_F64, }

// The others.

pair! { empty: "nothing", 16 = 16 x [], }

pair! { div_f64_as_ash: "divsd xmm, xmm (with two loads)", 10 = 10 x
["movsd {a}, [{p}]", "movsd {b}, [{p} + 8]", "divsd {a}, {b}"],
p = in(reg) &ASH_F64, a = out(xmm_reg) _, b = out(xmm_reg) _, }

pair! { div_f64_from_int_as_ash: "divsd xmm, xmm (with cvtsi2sd xmm, r64 and a load)", 10 = 10 x
["movsd {a}, [{p}]", "xorps {b}, {b}", "cvtsi2sd {b}, {i}", "divsd {a}, {b}"],
then ["inc {i}"],
p = in(reg) &ASH_F64, i = inout(reg) 1u64 => _, a = out(xmm_reg) _, b = out(xmm_reg) _, }

// Blocks of 32 bytes; the copy is from and to their second halves.
pair! { memcpy_16: "movups xmm, m128; movups m128, xmm", 10 = 10 x
["movups {a}, [{from} + 16]", "movups [{to} + 16], {a}"],
from = in(reg) &Block([1; 32]), to = in(reg) &mut Block([0; 32]), a = out(xmm_reg) _, }

/// Defines Ash's integer division, so many a turn.
macro_rules! ash_div_u64 {
    ($name:ident, $count:literal) => {
        /// `turns` is at least 1, and no divisor is 0 or overflows.
        #[inline(always)]
        pub(crate) fn $name(first: u64, turns: u64) {
            counted_loop!(turns, concat!(".rept ", $count),
                ["xor edx, edx", "mov rax, {dividend}", "div {i}"], ["inc {i}"],
                i = inout(reg) first => _,
                dividend = in(reg) ASH_U64,
                out("rax") _, out("rdx") _,
            );
        }
    };
}

ash_div_u64!(ash_div_u64_single, 10);
ash_div_u64!(ash_div_u64_double, 20);
