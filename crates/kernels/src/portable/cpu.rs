//! See `crate::cpu` for what the pairs are and `crate::operands` for the
//! values.

use crate::cpu::Feature;
use crate::operands::*;
use core::hint::black_box;

/// Defines a module with the two loops of a pair: from a starting value, so
/// many steps a turn.
macro_rules! pair {
    ($name:ident: $instruction:literal, $ops:literal x $start:expr, |$x:ident| $step:expr) => {
        pub(crate) mod $name {
            #[allow(unused_imports, reason = "not every loop has operands")]
            use super::*;

            pub(crate) const INSTRUCTION: &str = $instruction;
            pub(crate) const OPS: u32 = $ops;
            pub(crate) const ALIKE: bool = true;

            pub(crate) fn single(turns: u64) {
                repeat(turns * u64::from(OPS));
            }

            pub(crate) fn double(turns: u64) {
                repeat(turns * u64::from(2 * OPS));
            }

            fn repeat(steps: u64) {
                let mut $x = $start;
                for _ in 0..steps {
                    $x = black_box($step);
                }
                black_box($x);
            }
        }
    };
}

pair!(add_i32_latency: "x + y", 16 x DENSE_32, |x| x.wrapping_add(DENSE_32));
pair!(add_i32_throughput: "x + y", 16 x DENSE_32, |_x| black_box(DENSE_32).wrapping_add(DENSE_32));
pair!(mul_i32_latency: "x * y", 16 x DENSE_32, |x| x.wrapping_mul(DENSE_32));
pair!(mul_i32_throughput: "x * y", 16 x DENSE_32, |_x| black_box(DENSE_32).wrapping_mul(DENSE_32));
pair!(div_i32_latency: "s / r", 16 x DIVISOR_32, |r| DIVIDEND_32 / r);
pair!(div_i32_throughput: "s / r", 16 x DIVISOR_32, |_r| DIVIDEND_32 / black_box(DIVISOR_32));
pair!(mod_i32_latency: "(s % r) | floor", 16 x DIVISOR_32,
    |r| (DIVIDEND_32 % r) | REMAINDER_FLOOR_32);
pair!(mod_i32_throughput: "s % r", 16 x DIVISOR_32, |_r| DIVIDEND_32 % black_box(DIVISOR_32));
pair!(bit_i32_latency: "x ^ y", 16 x 1, |x| x ^ DENSE_32);
pair!(bit_i32_throughput: "x ^ y", 16 x 1, |_x| black_box(1) ^ DENSE_32);

pair!(add_i64_latency: "x + y", 16 x DENSE_64, |x| x.wrapping_add(DENSE_64));
pair!(add_i64_throughput: "x + y", 16 x DENSE_64, |_x| black_box(DENSE_64).wrapping_add(DENSE_64));
pair!(mul_i64_latency: "x * y", 16 x DENSE_64, |x| x.wrapping_mul(DENSE_64));
pair!(mul_i64_throughput: "x * y", 16 x DENSE_64, |_x| black_box(DENSE_64).wrapping_mul(DENSE_64));
pair!(div_i64_latency: "s / r", 16 x DIVISOR_64, |r| DIVIDEND_64 / r);
pair!(div_i64_throughput: "s / r", 16 x DIVISOR_64, |_r| DIVIDEND_64 / black_box(DIVISOR_64));
pair!(mod_i64_latency: "(s % r) | floor", 16 x DIVISOR_64,
    |r| (DIVIDEND_64 % r) | REMAINDER_FLOOR_64);
pair!(mod_i64_throughput: "s % r", 16 x DIVISOR_64, |_r| DIVIDEND_64 % black_box(DIVISOR_64));
pair!(bit_i64_latency: "x ^ y", 16 x 1, |x| x ^ DENSE_64);
pair!(bit_i64_throughput: "x ^ y", 16 x 1, |_x| black_box(1) ^ DENSE_64);

pub(crate) const POPCNT: Option<Feature> = None;

pair!(popcnt_i64_latency: "x.count_ones()", 16 x DENSE_64, |x| u64::from(x.count_ones()));
pair!(popcnt_i64_throughput: "x.count_ones()", 16 x 0_u32,
    |_x| black_box(DENSE_64).count_ones());

pair!(add_f32_latency: "x + y - y", 16 x START_F32, |x| ADDEND_F32 - x);
pair!(add_f32_throughput: "x + y", 16 x START_F32, |_x| black_box(START_F32) + ADDEND_F32);
pair!(mul_f32_latency: "x * y", 16 x START_F32, |x| x * black_box(1.0));
pair!(mul_f32_throughput: "x * y", 16 x START_F32, |_x| black_box(START_F32) * FACTOR_F32);
pair!(div_f32_latency: "s / r", 16 x START_F32, |r| DIVIDEND_F32 / r);
pair!(div_f32_throughput: "s / r", 16 x START_F32, |_r| DIVIDEND_F32 / black_box(START_F32));

pair!(add_f64_latency: "x + y - y", 16 x START_F64, |x| ADDEND_F64 - x);
pair!(add_f64_throughput: "x + y", 16 x START_F64, |_x| black_box(START_F64) + ADDEND_F64);
pair!(mul_f64_latency: "x * y", 16 x START_F64, |x| x * black_box(1.0));
pair!(mul_f64_throughput: "x * y", 16 x START_F64, |_x| black_box(START_F64) * FACTOR_F64);
pair!(div_f64_latency: "s / r", 16 x START_F64, |r| DIVIDEND_F64 / r);
pair!(div_f64_throughput: "s / r", 16 x START_F64, |_r| DIVIDEND_F64 / black_box(START_F64));

// `core` has no square root: one of Newton's steps stands in for it, so that
// the pair exists.
pair!(sqrt_f64_latency: "(x + 2 / x) / 2, for want of a root", 16 x START_F64,
    |x| (x + 2.0 / x) / 2.0);
pair!(sqrt_f64_throughput: "(y + x / y) / 2, for want of a root", 16 x START_F64,
    |_x| (START_F64 + black_box(RADICAND_F64) / START_F64) / 2.0);

pair!(empty: "nothing", 16 x (), |_x| ());
pair!(div_f64_as_ash: "x / y", 10 x 0.0, |_x| black_box(ASH_F64[0]) / black_box(ASH_F64[1]));
pair!(div_f64_from_int_as_ash: "x / i as f64", 10 x 0.0,
    |_x| black_box(ASH_F64[0]) / black_box(1u64) as f64);
pair!(memcpy_16: "a copy of 16 bytes", 10 x Block([1; 32]), |block| {
    block.0.copy_within(16.., 0);
    block
});

pub(crate) fn ash_div_u64_single(first: u64, turns: u64) {
    ash_div_u64(first, turns, 10);
}

pub(crate) fn ash_div_u64_double(first: u64, turns: u64) {
    ash_div_u64(first, turns, 20);
}

fn ash_div_u64(first: u64, turns: u64, divisions: u32) {
    for i in first..first + turns {
        for _ in 0..divisions {
            black_box(ASH_U64 / black_box(i));
        }
    }
}
