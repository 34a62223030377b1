//! Floating-point instructions.

use super::Instruction;
use crate::operands::*;

const ADD_FLOAT: &str = "Plus e and minus e, alternating, so that the value stays normal and its \
    mantissa full.";
const MUL_FLOAT: &str = "Times the golden ratio and times its inverse, alternating, so that the value \
    stays normal and its mantissa full.";
const DIV_FLOAT: &str = "r = pi / r, which toggles between two full mantissas (1.23 and 2.54): \
    short ones divide faster on some cores.";
const DIV_FLOAT_THROUGHPUT: &str =
    "pi / 1.23 each time, both with full mantissas: short ones divide faster on some cores.";
const SQRT: &str = "x = sqrt(x), from 1.6 to 2 on 16 times, then | dense mantissa, because roots of \
    roots run into 1.0: the OR, one in 16 roots, is as often in both loops, so that it drops out of \
    the difference.";
const SQRT_THROUGHPUT: &str = "The root of 1.65 each time, with a full mantissa, as the latency \
    row's: roots of roots would run into 1.0.";

operations! {
    ADD_F32: add_f32, operands [ADD_FLOAT, ADD_FLOAT], chains 12;
    x86_64 {
        pair! { latency: "addss xmm, xmm", 16 = 8 x ["addss {x}, {y}", "addss {x}, {z}"],
            x = inout(xmm_reg) START_F32 => _, y = in(xmm_reg) ADDEND_F32, z = in(xmm_reg) -ADDEND_F32, }
        throughput! { throughput: "addss xmm, xmm", 14 chains
            [each!(14 "addss {", "}, {y}"), each!(14 "addss {", "}, {z}")],
            START_F32, y = in(xmm_reg) ADDEND_F32, z = in(xmm_reg) -ADDEND_F32, }
    }
    aarch64 {
        pair! { latency: "fadd s, s, s", 16 = 8 x
            ["fadd {x:s}, {x:s}, {y:s}", "fadd {x:s}, {x:s}, {z:s}"],
            x = inout(vreg) START_F32 => _, y = in(vreg) ADDEND_F32, z = in(vreg) -ADDEND_F32, }
        throughput! { throughput: "fadd s, s, s", 24 chains
            [chains!(24 "fadd", ":s", "{y:s}"), chains!(24 "fadd", ":s", "{z:s}")],
            START_F32, y = in(vreg) ADDEND_F32, z = in(vreg) -ADDEND_F32, }
    }
    portable {
        pair!(latency: "x + y - y", 16 x START_F32, |x| ADDEND_F32 - x);
        pair!(throughput: "x + y", 16 x START_F32, |_x| black_box(START_F32) + ADDEND_F32);
    }

    MUL_F32: mul_f32, operands [MUL_FLOAT, MUL_FLOAT], chains [x86_64 8, aarch64 18];
    x86_64 {
        pair! { latency: "mulss xmm, xmm", 16 = 8 x ["mulss {x}, {y}", "mulss {x}, {z}"],
            x = inout(xmm_reg) START_F32 => _, y = in(xmm_reg) FACTOR_F32, z = in(xmm_reg) INVERSE_F32, }
        throughput! { throughput: "mulss xmm, xmm", 14 chains
            [each!(14 "mulss {", "}, {y}"), each!(14 "mulss {", "}, {z}")],
            START_F32, y = in(xmm_reg) FACTOR_F32, z = in(xmm_reg) INVERSE_F32, }
    }
    aarch64 {
        pair! { latency: "fmul s, s, s", 16 = 8 x
            ["fmul {x:s}, {x:s}, {y:s}", "fmul {x:s}, {x:s}, {z:s}"],
            x = inout(vreg) START_F32 => _, y = in(vreg) FACTOR_F32, z = in(vreg) INVERSE_F32, }
        throughput! { throughput: "fmul s, s, s", 24 chains
            [chains!(24 "fmul", ":s", "{y:s}"), chains!(24 "fmul", ":s", "{z:s}")],
            START_F32, y = in(vreg) FACTOR_F32, z = in(vreg) INVERSE_F32, }
    }
    portable {
        pair!(latency: "x * y", 16 x START_F32, |x| x * black_box(1.0));
        pair!(throughput: "x * y", 16 x START_F32, |_x| black_box(START_F32) * FACTOR_F32);
    }

    DIV_F32: div_f32, operands [DIV_FLOAT, DIV_FLOAT_THROUGHPUT], chains 8;
    x86_64 {
        // The copies of the dividend wait for nothing, so they are not in the chain.
        pair! { latency: "divss xmm, xmm", 16 = 8 x
            ["movaps {b}, {s}", "divss {b}, {a}", "movaps {a}, {s}", "divss {a}, {b}"],
            a = inout(xmm_reg) START_F32 => _, b = out(xmm_reg) _, s = in(xmm_reg) DIVIDEND_F32, }
        unchained! { throughput: "divss xmm, xmm",
            [each!(8 "movaps {", "}, {s}\ndivss {", "}, {r}")],
            s = in(xmm_reg) DIVIDEND_F32, r = in(xmm_reg) START_F32, }
    }
    aarch64 {
        pair! { latency: "fdiv s, s, s", 16 = 16 x ["fdiv {r:s}, {s:s}, {r:s}"],
            r = inout(vreg) START_F32 => _, s = in(vreg) DIVIDEND_F32, }
        throughput! { throughput: "fdiv s, s, s", 16 chains
            [copies!(16 "fdiv", ":s", "{s:s}, {y:s}")],
            START_F32, s = in(vreg) DIVIDEND_F32, y = in(vreg) START_F32, }
    }
    portable {
        pair!(latency: "s / r", 16 x START_F32, |r| DIVIDEND_F32 / r);
        pair!(throughput: "s / r", 16 x START_F32, |_r| DIVIDEND_F32 / black_box(START_F32));
    }

    ADD_F64: add_f64, operands [ADD_FLOAT, ADD_FLOAT], chains 12;
    x86_64 {
        pair! { latency: "addsd xmm, xmm", 16 = 8 x ["addsd {x}, {y}", "addsd {x}, {z}"],
            x = inout(xmm_reg) START_F64 => _, y = in(xmm_reg) ADDEND_F64, z = in(xmm_reg) -ADDEND_F64, }
        throughput! { throughput: "addsd xmm, xmm", 14 chains
            [each!(14 "addsd {", "}, {y}"), each!(14 "addsd {", "}, {z}")],
            START_F64, y = in(xmm_reg) ADDEND_F64, z = in(xmm_reg) -ADDEND_F64, }
    }
    aarch64 {
        pair! { latency: "fadd d, d, d", 16 = 8 x
            ["fadd {x:d}, {x:d}, {y:d}", "fadd {x:d}, {x:d}, {z:d}"],
            x = inout(vreg) START_F64 => _, y = in(vreg) ADDEND_F64, z = in(vreg) -ADDEND_F64, }
        throughput! { throughput: "fadd d, d, d", 24 chains
            [chains!(24 "fadd", ":d", "{y:d}"), chains!(24 "fadd", ":d", "{z:d}")],
            START_F64, y = in(vreg) ADDEND_F64, z = in(vreg) -ADDEND_F64, }
    }
    portable {
        pair!(latency: "x + y - y", 16 x START_F64, |x| ADDEND_F64 - x);
        pair!(throughput: "x + y", 16 x START_F64, |_x| black_box(START_F64) + ADDEND_F64);
    }

    MUL_F64: mul_f64, operands [MUL_FLOAT, MUL_FLOAT], chains [x86_64 8, aarch64 18];
    x86_64 {
        pair! { latency: "mulsd xmm, xmm", 16 = 8 x ["mulsd {x}, {y}", "mulsd {x}, {z}"],
            x = inout(xmm_reg) START_F64 => _, y = in(xmm_reg) FACTOR_F64, z = in(xmm_reg) INVERSE_F64, }
        throughput! { throughput: "mulsd xmm, xmm", 14 chains
            [each!(14 "mulsd {", "}, {y}"), each!(14 "mulsd {", "}, {z}")],
            START_F64, y = in(xmm_reg) FACTOR_F64, z = in(xmm_reg) INVERSE_F64, }
    }
    aarch64 {
        pair! { latency: "fmul d, d, d", 16 = 8 x
            ["fmul {x:d}, {x:d}, {y:d}", "fmul {x:d}, {x:d}, {z:d}"],
            x = inout(vreg) START_F64 => _, y = in(vreg) FACTOR_F64, z = in(vreg) INVERSE_F64, }
        throughput! { throughput: "fmul d, d, d", 24 chains
            [chains!(24 "fmul", ":d", "{y:d}"), chains!(24 "fmul", ":d", "{z:d}")],
            START_F64, y = in(vreg) FACTOR_F64, z = in(vreg) INVERSE_F64, }
    }
    portable {
        pair!(latency: "x * y", 16 x START_F64, |x| x * black_box(1.0));
        pair!(throughput: "x * y", 16 x START_F64, |_x| black_box(START_F64) * FACTOR_F64);
    }

    DIV_F64: div_f64, operands [DIV_FLOAT, DIV_FLOAT_THROUGHPUT], chains 8;
    x86_64 {
        pair! { latency: "divsd xmm, xmm", 16 = 8 x
            ["movaps {b}, {s}", "divsd {b}, {a}", "movaps {a}, {s}", "divsd {a}, {b}"],
            a = inout(xmm_reg) START_F64 => _, b = out(xmm_reg) _, s = in(xmm_reg) DIVIDEND_F64, }
        unchained! { throughput: "divsd xmm, xmm",
            [each!(8 "movaps {", "}, {s}\ndivsd {", "}, {r}")],
            s = in(xmm_reg) DIVIDEND_F64, r = in(xmm_reg) START_F64, }
    }
    aarch64 {
        pair! { latency: "fdiv d, d, d", 16 = 16 x ["fdiv {r:d}, {s:d}, {r:d}"],
            r = inout(vreg) START_F64 => _, s = in(vreg) DIVIDEND_F64, }
        throughput! { throughput: "fdiv d, d, d", 16 chains
            [copies!(16 "fdiv", ":d", "{s:d}, {y:d}")],
            START_F64, s = in(vreg) DIVIDEND_F64, y = in(vreg) START_F64, }
    }
    portable {
        pair!(latency: "s / r", 16 x START_F64, |r| DIVIDEND_F64 / r);
        pair!(throughput: "s / r", 16 x START_F64, |_r| DIVIDEND_F64 / black_box(START_F64));
    }

    SQRT_F64: sqrt_f64, operands [SQRT, SQRT_THROUGHPUT], chains 8;
    x86_64 {
        // An OR behind each root would cost more or less than a cycle, by the unit that it is given:
        // 0.8 the first and 1.2 the second on Zen 4. Of one in 16 that is nothing.
        pair! { latency: "sqrtsd xmm, xmm (with one orpd xmm, xmm in 16)", 16 = 1 x
            single [".rept 16", "sqrtsd {x}, {x}", ".endr", "orpd {x}, {floor}", "orpd {x}, {floor}"],
            double [".rept 16", "sqrtsd {x}, {x}", ".endr", "orpd {x}, {floor}"],
            x = inout(xmm_reg) START_F64 => _, floor = in(xmm_reg) SQRT_FLOOR_F64, }
        unchained! { throughput: "sqrtsd xmm, xmm",
            [each!(8 "movaps {", "}, {s}\nsqrtsd {", "}, {s}")],
            s = in(xmm_reg) RADICAND_F64, }
    }
    aarch64 {
        pair! { latency: "fsqrt d, d (with one orr v.8b, v.8b, v.8b in 16)", 16 = 1 x
            single [".rept 16", "fsqrt {x:d}, {x:d}", ".endr", "orr {x:v}.8b, {x:v}.8b, {floor:v}.8b", "orr {x:v}.8b, {x:v}.8b, {floor:v}.8b"],
            double [".rept 16", "fsqrt {x:d}, {x:d}", ".endr", "orr {x:v}.8b, {x:v}.8b, {floor:v}.8b"],
            x = inout(vreg) START_F64 => _, floor = in(vreg) SQRT_FLOOR_F64, }
        throughput! { throughput: "fsqrt d, d", 16 chains [copies!(16 "fsqrt", ":d", "{s:d}")],
            START_F64, s = in(vreg) RADICAND_F64, }
    }
    portable {
        pair!(latency: "(x + 2 / x) / 2, for want of a root", 16 x START_F64, |x| (x + 2.0 / x) / 2.0);
        pair!(throughput: "(y + x / y) / 2, for want of a root", 16 x START_F64, |_x| (START_F64 + black_box(RADICAND_F64) / START_F64) / 2.0);
    }
}
