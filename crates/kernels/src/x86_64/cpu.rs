//! See `crate::cpu` for what the pairs are and `crate::operands` for the
//! values.
//!
//! Operands come in registers of the compiler's choice, except where the
//! instruction itself insists (`div`: rax and rdx). No instruction here writes
//! only a part of a register whose rest it would have to wait for:
//! 32-bit results clear the upper half, and a `movaps` or `xorps` comes before
//! the conversions and roots that would keep the upper half of a vector.

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
        pair! { @ $name: $instruction, $ops = $n x [$($line),*] [$($line),*]
            [$($once),*] { $($operands)* } }
    };
    ($name:ident: $instruction:literal, $ops:literal = $n:literal x [$($line:expr),*],
        $($operands:tt)*) => {
        pair! { @ $name: $instruction, $ops = $n x [$($line),*] [$($line),*]
            [] { $($operands)* } }
    };
    ($name:ident: $instruction:literal, $ops:literal = $n:literal x
        single [$($single:expr),*], double [$($double:expr),*], $($operands:tt)*) => {
        pair! { @ $name: $instruction, $ops = $n x [$($single),*] [$($double),*]
            [] { $($operands)* } }
    };
    (@ $name:ident: $instruction:literal, $ops:literal = $n:literal x
        [$($single:expr),*] [$($double:expr),*] $once:tt { $($operands:tt)* }) => {
        pub(crate) mod $name {
            #[allow(unused_imports, reason = "not every loop has operands")]
            use super::*;

            pub(crate) const INSTRUCTION: &str = $instruction;
            pub(crate) const OPS: u32 = $ops;

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

/// Defines the pair of a throughput: 16 operations in eight independent
/// chains `a` to `h`, which all start from the same value. Eight cover the
/// longest latency times the widest issue of any pipelined operation here.
macro_rules! throughput {
    ($name:ident: $instruction:literal, $n:literal x [$($line:expr),*], $class:ident $start:expr,
        $($operands:tt)*) => {
        pair! { $name: $instruction, 16 = $n x [$($line),*],
            a = inout($class) $start => _, b = inout($class) $start => _,
            c = inout($class) $start => _, d = inout($class) $start => _,
            e = inout($class) $start => _, f = inout($class) $start => _,
            g = inout($class) $start => _, h = inout($class) $start => _,
            $($operands)* }
    };
}

/// The eight chains' lines, with the name of the chain in the gaps.
macro_rules! chains {
    ($($part:literal),+) => {
        chains!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h")
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

throughput! { add_i32_throughput: "add r32, r32", 2 x [chains!("add {", ":e}, {y:e}")],
reg DENSE_32, y = in(reg) DENSE_32, }

pair! { mul_i32_latency: "imul r32, r32", 16 = 16 x ["imul {x:e}, {y:e}"],
x = inout(reg) DENSE_32 => _, y = in(reg) DENSE_32, }

throughput! { mul_i32_throughput: "imul r32, r32", 2 x [chains!("imul {", ":e}, {y:e}")],
reg DENSE_32, y = in(reg) DENSE_32, }

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

throughput! { bit_i32_throughput: "xor r32, r32", 2 x [chains!("xor {", ":e}, {y:e}")],
reg 1u32, y = in(reg) DENSE_32, }

// Integers, 64 bits.

pair! { add_i64_latency: "add r64, r64", 16 = 16 x ["add {x}, {y}"],
x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }

throughput! { add_i64_throughput: "add r64, r64", 2 x [chains!("add {", "}, {y}")],
reg DENSE_64, y = in(reg) DENSE_64, }

pair! { mul_i64_latency: "imul r64, r64", 16 = 16 x ["imul {x}, {y}"],
x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }

throughput! { mul_i64_throughput: "imul r64, r64", 2 x [chains!("imul {", "}, {y}")],
reg DENSE_64, y = in(reg) DENSE_64, }

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

throughput! { bit_i64_throughput: "xor r64, r64", 2 x [chains!("xor {", "}, {y}")],
reg 1u64, y = in(reg) DENSE_64, }

// Floats, 32 bits.

pair! { add_f32_latency: "addss xmm, xmm", 16 = 8 x ["addss {x}, {y}", "addss {x}, {z}"],
x = inout(xmm_reg) START_F32 => _, y = in(xmm_reg) ADDEND_F32, z = in(xmm_reg) -ADDEND_F32, }

throughput! { add_f32_throughput: "addss xmm, xmm", 1 x
[chains!("addss {", "}, {y}"), chains!("addss {", "}, {z}")],
xmm_reg START_F32, y = in(xmm_reg) ADDEND_F32, z = in(xmm_reg) -ADDEND_F32, }

pair! { mul_f32_latency: "mulss xmm, xmm", 16 = 8 x ["mulss {x}, {y}", "mulss {x}, {z}"],
x = inout(xmm_reg) START_F32 => _, y = in(xmm_reg) FACTOR_F32, z = in(xmm_reg) INVERSE_F32, }

throughput! { mul_f32_throughput: "mulss xmm, xmm", 1 x
[chains!("mulss {", "}, {y}"), chains!("mulss {", "}, {z}")],
xmm_reg START_F32, y = in(xmm_reg) FACTOR_F32, z = in(xmm_reg) INVERSE_F32, }

// The copies of the dividend wait for nothing, so they are not in the chain.
pair! { div_f32_latency: "divss xmm, xmm", 16 = 8 x
["movaps {b}, {s}", "divss {b}, {a}", "movaps {a}, {s}", "divss {a}, {b}"],
a = inout(xmm_reg) START_F32 => _, b = out(xmm_reg) _, s = in(xmm_reg) DIVIDEND_F32, }

throughput! { div_f32_throughput: "divss xmm, xmm", 2 x
[chains!("movaps {", "}, {s}\ndivss {", "}, {r}")],
xmm_reg START_F32, s = in(xmm_reg) DIVIDEND_F32, r = in(xmm_reg) START_F32, }

// Floats, 64 bits.

pair! { add_f64_latency: "addsd xmm, xmm", 16 = 8 x ["addsd {x}, {y}", "addsd {x}, {z}"],
x = inout(xmm_reg) START_F64 => _, y = in(xmm_reg) ADDEND_F64, z = in(xmm_reg) -ADDEND_F64, }

throughput! { add_f64_throughput: "addsd xmm, xmm", 1 x
[chains!("addsd {", "}, {y}"), chains!("addsd {", "}, {z}")],
xmm_reg START_F64, y = in(xmm_reg) ADDEND_F64, z = in(xmm_reg) -ADDEND_F64, }

pair! { mul_f64_latency: "mulsd xmm, xmm", 16 = 8 x ["mulsd {x}, {y}", "mulsd {x}, {z}"],
x = inout(xmm_reg) START_F64 => _, y = in(xmm_reg) FACTOR_F64, z = in(xmm_reg) INVERSE_F64, }

throughput! { mul_f64_throughput: "mulsd xmm, xmm", 1 x
[chains!("mulsd {", "}, {y}"), chains!("mulsd {", "}, {z}")],
xmm_reg START_F64, y = in(xmm_reg) FACTOR_F64, z = in(xmm_reg) INVERSE_F64, }

pair! { div_f64_latency: "divsd xmm, xmm", 16 = 8 x
["movaps {b}, {s}", "divsd {b}, {a}", "movaps {a}, {s}", "divsd {a}, {b}"],
a = inout(xmm_reg) START_F64 => _, b = out(xmm_reg) _, s = in(xmm_reg) DIVIDEND_F64, }

throughput! { div_f64_throughput: "divsd xmm, xmm", 2 x
[chains!("movaps {", "}, {s}\ndivsd {", "}, {r}")],
xmm_reg START_F64, s = in(xmm_reg) DIVIDEND_F64, r = in(xmm_reg) START_F64, }

pair! { sqrt_f64_latency: "sqrtsd xmm, xmm (with orpd xmm, xmm)", 16 = 16 x
single ["sqrtsd {x}, {x}", "orpd {x}, {floor}", "orpd {x}, {floor}"],
double ["sqrtsd {x}, {x}", "orpd {x}, {floor}"],
x = inout(xmm_reg) START_F64 => _, floor = in(xmm_reg) SQRT_FLOOR_F64, }

throughput! { sqrt_f64_throughput: "sqrtsd xmm, xmm", 2 x
[chains!("movaps {", "}, {s}\nsqrtsd {", "}, {s}")],
xmm_reg START_F64, s = in(xmm_reg) RADICAND_F64, }

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
