//! Integer instructions.

use super::Instruction;
use crate::operands::*;

const ADD: &str = "A dense odd constant from a register is added again and again: a small \
    immediate would be folded away while renaming on recent Intel cores.";
const MUL: &str = "Multiplied by a dense odd constant: an odd product never runs out into zero.";
const BIT: &str = "XOR with a dense constant from another register: with itself it would only \
    be an idiom for zero.";
const POPCNT: &str = "The bits of the last count, which is between 1 and 64: the time of a count \
    does not depend on its operand.";
const DIV_I32_LATENCY: &str = "r = s / r with s = 2^31 - 1, so that r toggles between 41003 and 52373: \
    the divisor is the last quotient, as in LMbench, and quotients keep 16 bits.";
const DIV_I64_LATENCY: &str = "r = s / r with s = 2^62 - 1, so that r toggles between 2000000011 and \
    2305842996: the divisor is the last quotient, as in LMbench, and quotients keep 32 bits.";
const DIV_I32_THROUGHPUT: &str = "(2^31 - 1) / 41003 each time: the latency row's operands, with \
    quotients of 16 bits, since the time depends on their size.";
const DIV_I64_THROUGHPUT: &str = "(2^62 - 1) / 2000000011 each time: the latency row's operands, \
    with quotients of 32 bits, since the time depends on their size.";
const MOD_I32_LATENCY: &str = "r = (s % r) | 2^15 with s = 2^31 - 1, which keeps divisors at 16 bits: \
    LMbench's chain, with the OR as often in both loops, so that it drops out of the difference.";
const MOD_I64_LATENCY: &str = "r = (s % r) | 2^30 with s = 2^62 - 1, which keeps divisors at 31 bits: \
    LMbench's chain, with the OR as often in both loops, so that it drops out of the difference.";
const MOD_I32_THROUGHPUT: &str = "(2^31 - 1) % 41003 each time: the size of the latency row's \
    operands, since the time depends on it.";
const MOD_I64_THROUGHPUT: &str = "(2^62 - 1) % 2000000011 each time: the size of the latency \
    row's operands, since the time depends on it.";

operations! {
    ADD_I32: add_i32, operands [ADD, ADD], chains 8;
    x86_64 {
        pair! { latency: "add r32, r32", 16 = 16 x ["add {x:e}, {y:e}"],
            x = inout(reg) DENSE_32 => _, y = in(reg) DENSE_32, }
        throughput! { throughput: "add r32, r32", 2 x 12 chains [each!(12 "add {", ":e}, {y:e}")],
            DENSE_32, y = in(reg) DENSE_32, }
    }
    aarch64 {
        pair! { latency: "add w, w, w", 16 = 16 x ["add {x:w}, {x:w}, {y:w}"],
            x = inout(reg) DENSE_32 => _, y = in(reg) DENSE_32, }
        throughput! { throughput: "add w, w, w", 2 x 12 chains [chains!(12 "add", ":w", "{y:w}")],
            DENSE_32, y = in(reg) DENSE_32, }
    }
    portable {
        pair!(latency: "x + y", 16 x DENSE_32, |x| x.wrapping_add(DENSE_32));
        pair!(throughput: "x + y", 16 x DENSE_32, |_x| black_box(DENSE_32).wrapping_add(DENSE_32));
    }

    MUL_I32: mul_i32, operands [MUL, MUL], chains 9;
    x86_64 {
        pair! { latency: "imul r32, r32", 16 = 16 x ["imul {x:e}, {y:e}"],
            x = inout(reg) DENSE_32 => _, y = in(reg) DENSE_32, }
        throughput! { throughput: "imul r32, r32", 2 x 12 chains [each!(12 "imul {", ":e}, {y:e}")],
            DENSE_32, y = in(reg) DENSE_32, }
    }
    aarch64 {
        pair! { latency: "mul w, w, w", 16 = 16 x ["mul {x:w}, {x:w}, {y:w}"],
            x = inout(reg) DENSE_32 => _, y = in(reg) DENSE_32, }
        throughput! { throughput: "mul w, w, w", 2 x 12 chains [chains!(12 "mul", ":w", "{y:w}")],
            DENSE_32, y = in(reg) DENSE_32, }
    }
    portable {
        pair!(latency: "x * y", 16 x DENSE_32, |x| x.wrapping_mul(DENSE_32));
        pair!(throughput: "x * y", 16 x DENSE_32, |_x| black_box(DENSE_32).wrapping_mul(DENSE_32));
    }

    DIV_I32: div_i32, operands [DIV_I32_LATENCY, DIV_I32_THROUGHPUT], chains 0;
    x86_64 {
        // The quotient has to get from eax to the divisor's register: a move, which
        // some cores do while renaming and some don't. Twice in `single`.
        pair! { latency: "idiv r32 (with the move of its quotient)", 16 = 16 x
            single ["mov eax, {s:e}", "cdq", "idiv {r:e}", "mov edx, eax", "mov {r:e}, edx"],
            double ["mov eax, {s:e}", "cdq", "idiv {r:e}", "mov {r:e}, eax"],
            s = in(reg) DIVIDEND_32, r = inout(reg) DIVISOR_32 => _,
            out("eax") _, out("edx") _, }
        pair! { throughput: "idiv r32", 16 = 16 x ["mov eax, {s:e}", "cdq", "idiv {r:e}"],
            s = in(reg) DIVIDEND_32, r = in(reg) DIVISOR_32, out("eax") _, out("edx") _, }
    }
    aarch64 {
        pair! { latency: "sdiv w, w, w", 16 = 16 x ["sdiv {r:w}, {s:w}, {r:w}"],
            s = in(reg) DIVIDEND_32, r = inout(reg) DIVISOR_32 => _, }
        throughput! { throughput: "sdiv w, w, w", 2 x 12 chains [copies!(12 "sdiv", ":w", "{s:w}, {r:w}")],
            DIVISOR_32, s = in(reg) DIVIDEND_32, r = in(reg) DIVISOR_32, }
    }
    portable {
        pair!(latency: "s / r", 16 x DIVISOR_32, |r| DIVIDEND_32 / r);
        pair!(throughput: "s / r", 16 x DIVISOR_32, |_r| DIVIDEND_32 / black_box(DIVISOR_32));
    }

    MOD_I32: mod_i32, operands [MOD_I32_LATENCY, MOD_I32_THROUGHPUT], chains 0;
    x86_64 {
        pair! { latency: "idiv r32 (remainder; with or r32, r32)", 16 = 16 x
            single ["mov eax, {s:e}", "cdq", "idiv {r:e}", "mov eax, edx", "or eax, {floor:e}",
            "mov {r:e}, eax", "or {r:e}, {floor:e}"],
            double ["mov eax, {s:e}", "cdq", "idiv {r:e}", "mov {r:e}, edx", "or {r:e}, {floor:e}"],
            s = in(reg) DIVIDEND_32, r = inout(reg) DIVISOR_32 => _,
            floor = in(reg) REMAINDER_FLOOR_32, out("eax") _, out("edx") _, }
        pair! { throughput: "idiv r32 (remainder)", 16 = 16 x
            ["mov eax, {s:e}", "cdq", "idiv {r:e}"],
            s = in(reg) DIVIDEND_32, r = in(reg) DIVISOR_32, out("eax") _, out("edx") _, }
    }
    aarch64 {
        pair! { latency: "sdiv w, w, w; msub w, w, w, w (with orr w, w, w)", 16 = 16 x
            single ["sdiv {q:w}, {s:w}, {r:w}", "msub {r:w}, {q:w}, {r:w}, {s:w}",
            "orr {r:w}, {r:w}, {floor:w}", "orr {r:w}, {r:w}, {floor:w}"],
            double ["sdiv {q:w}, {s:w}, {r:w}", "msub {r:w}, {q:w}, {r:w}, {s:w}",
            "orr {r:w}, {r:w}, {floor:w}"],
            s = in(reg) DIVIDEND_32, r = inout(reg) DIVISOR_32 => _, q = out(reg) _,
            floor = in(reg) REMAINDER_FLOOR_32, }
        throughput! { throughput: "sdiv w, w, w; msub w, w, w, w", 2 x 12 chains [
            copies!(12 "sdiv", ":w", "{s:w}, {r:w}"), chains!(12 "msub", ":w", "{r:w}, {s:w}")],
            DIVISOR_32, s = in(reg) DIVIDEND_32, r = in(reg) DIVISOR_32, }
    }
    portable {
        pair!(latency: "(s % r) | floor", 16 x DIVISOR_32, |r| (DIVIDEND_32 % r) | REMAINDER_FLOOR_32);
        pair!(throughput: "s % r", 16 x DIVISOR_32, |_r| DIVIDEND_32 % black_box(DIVISOR_32));
    }

    BIT_I32: bit_i32, operands [BIT, BIT], chains 8;
    x86_64 {
        pair! { latency: "xor r32, r32", 16 = 16 x ["xor {x:e}, {y:e}"],
            x = inout(reg) 1u32 => _, y = in(reg) DENSE_32, }
        throughput! { throughput: "xor r32, r32", 2 x 12 chains [each!(12 "xor {", ":e}, {y:e}")],
            1u32, y = in(reg) DENSE_32, }
    }
    aarch64 {
        pair! { latency: "eor w, w, w", 16 = 16 x ["eor {x:w}, {x:w}, {y:w}"],
            x = inout(reg) 1u32 => _, y = in(reg) DENSE_32, }
        throughput! { throughput: "eor w, w, w", 2 x 12 chains [chains!(12 "eor", ":w", "{y:w}")],
            1u32, y = in(reg) DENSE_32, }
    }
    portable {
        pair!(latency: "x ^ y", 16 x 1, |x| x ^ DENSE_32);
        pair!(throughput: "x ^ y", 16 x 1, |_x| black_box(1) ^ DENSE_32);
    }

    ADD_I64: add_i64, operands [ADD, ADD], chains 8;
    x86_64 {
        pair! { latency: "add r64, r64", 16 = 16 x ["add {x}, {y}"],
            x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }
        throughput! { throughput: "add r64, r64", 2 x 12 chains [each!(12 "add {", "}, {y}")],
            DENSE_64, y = in(reg) DENSE_64, }
    }
    aarch64 {
        pair! { latency: "add x, x, x", 16 = 16 x ["add {x:x}, {x:x}, {y:x}"],
            x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }
        throughput! { throughput: "add x, x, x", 2 x 12 chains [chains!(12 "add", ":x", "{y:x}")],
            DENSE_64, y = in(reg) DENSE_64, }
    }
    portable {
        pair!(latency: "x + y", 16 x DENSE_64, |x| x.wrapping_add(DENSE_64));
        pair!(throughput: "x + y", 16 x DENSE_64, |_x| black_box(DENSE_64).wrapping_add(DENSE_64));
    }

    MUL_I64: mul_i64, operands [MUL, MUL], chains 9;
    x86_64 {
        pair! { latency: "imul r64, r64", 16 = 16 x ["imul {x}, {y}"],
            x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }
        throughput! { throughput: "imul r64, r64", 2 x 12 chains [each!(12 "imul {", "}, {y}")],
            DENSE_64, y = in(reg) DENSE_64, }
    }
    aarch64 {
        pair! { latency: "mul x, x, x", 16 = 16 x ["mul {x:x}, {x:x}, {y:x}"],
            x = inout(reg) DENSE_64 => _, y = in(reg) DENSE_64, }
        throughput! { throughput: "mul x, x, x", 2 x 12 chains [chains!(12 "mul", ":x", "{y:x}")],
            DENSE_64, y = in(reg) DENSE_64, }
    }
    portable {
        pair!(latency: "x * y", 16 x DENSE_64, |x| x.wrapping_mul(DENSE_64));
        pair!(throughput: "x * y", 16 x DENSE_64, |_x| black_box(DENSE_64).wrapping_mul(DENSE_64));
    }

    DIV_I64: div_i64, operands [DIV_I64_LATENCY, DIV_I64_THROUGHPUT], chains 0;
    x86_64 {
        pair! { latency: "idiv r64 (with the move of its quotient)", 16 = 16 x
            single ["mov rax, {s}", "cqo", "idiv {r}", "mov rdx, rax", "mov {r}, rdx"],
            double ["mov rax, {s}", "cqo", "idiv {r}", "mov {r}, rax"],
            s = in(reg) DIVIDEND_64, r = inout(reg) DIVISOR_64 => _,
            out("rax") _, out("rdx") _, }
        pair! { throughput: "idiv r64", 16 = 16 x ["mov rax, {s}", "cqo", "idiv {r}"],
            s = in(reg) DIVIDEND_64, r = in(reg) DIVISOR_64, out("rax") _, out("rdx") _, }
    }
    aarch64 {
        pair! { latency: "sdiv x, x, x", 16 = 16 x ["sdiv {r:x}, {s:x}, {r:x}"],
            s = in(reg) DIVIDEND_64, r = inout(reg) DIVISOR_64 => _, }
        throughput! { throughput: "sdiv x, x, x", 2 x 12 chains [copies!(12 "sdiv", ":x", "{s:x}, {r:x}")],
            DIVISOR_64, s = in(reg) DIVIDEND_64, r = in(reg) DIVISOR_64, }
    }
    portable {
        pair!(latency: "s / r", 16 x DIVISOR_64, |r| DIVIDEND_64 / r);
        pair!(throughput: "s / r", 16 x DIVISOR_64, |_r| DIVIDEND_64 / black_box(DIVISOR_64));
    }

    MOD_I64: mod_i64, operands [MOD_I64_LATENCY, MOD_I64_THROUGHPUT], chains 0;
    x86_64 {
        pair! { latency: "idiv r64 (remainder; with or r64, r64)", 16 = 16 x
            single ["mov rax, {s}", "cqo", "idiv {r}", "mov rax, rdx", "or rax, {floor}",
            "mov {r}, rax", "or {r}, {floor}"],
            double ["mov rax, {s}", "cqo", "idiv {r}", "mov {r}, rdx", "or {r}, {floor}"],
            s = in(reg) DIVIDEND_64, r = inout(reg) DIVISOR_64 => _,
            floor = in(reg) REMAINDER_FLOOR_64, out("rax") _, out("rdx") _, }
        pair! { throughput: "idiv r64 (remainder)", 16 = 16 x
            ["mov rax, {s}", "cqo", "idiv {r}"],
            s = in(reg) DIVIDEND_64, r = in(reg) DIVISOR_64, out("rax") _, out("rdx") _, }
    }
    aarch64 {
        pair! { latency: "sdiv x, x, x; msub x, x, x, x (with orr x, x, x)", 16 = 16 x
            single ["sdiv {q:x}, {s:x}, {r:x}", "msub {r:x}, {q:x}, {r:x}, {s:x}",
            "orr {r:x}, {r:x}, {floor:x}", "orr {r:x}, {r:x}, {floor:x}"],
            double ["sdiv {q:x}, {s:x}, {r:x}", "msub {r:x}, {q:x}, {r:x}, {s:x}",
            "orr {r:x}, {r:x}, {floor:x}"],
            s = in(reg) DIVIDEND_64, r = inout(reg) DIVISOR_64 => _, q = out(reg) _,
            floor = in(reg) REMAINDER_FLOOR_64, }
        throughput! { throughput: "sdiv x, x, x; msub x, x, x, x", 2 x 12 chains [
            copies!(12 "sdiv", ":x", "{s:x}, {r:x}"), chains!(12 "msub", ":x", "{r:x}, {s:x}")],
            DIVISOR_64, s = in(reg) DIVIDEND_64, r = in(reg) DIVISOR_64, }
    }
    portable {
        pair!(latency: "(s % r) | floor", 16 x DIVISOR_64, |r| (DIVIDEND_64 % r) | REMAINDER_FLOOR_64);
        pair!(throughput: "s % r", 16 x DIVISOR_64, |_r| DIVIDEND_64 % black_box(DIVISOR_64));
    }

    BIT_I64: bit_i64, operands [BIT, BIT], chains 8;
    x86_64 {
        pair! { latency: "xor r64, r64", 16 = 16 x ["xor {x}, {y}"],
            x = inout(reg) 1u64 => _, y = in(reg) DENSE_64, }
        throughput! { throughput: "xor r64, r64", 2 x 12 chains [each!(12 "xor {", "}, {y}")],
            1u64, y = in(reg) DENSE_64, }
    }
    aarch64 {
        pair! { latency: "eor x, x, x", 16 = 16 x ["eor {x:x}, {x:x}, {y:x}"],
            x = inout(reg) 1u64 => _, y = in(reg) DENSE_64, }
        throughput! { throughput: "eor x, x, x", 2 x 12 chains [chains!(12 "eor", ":x", "{y:x}")],
            1u64, y = in(reg) DENSE_64, }
    }
    portable {
        pair!(latency: "x ^ y", 16 x 1, |x| x ^ DENSE_64);
        pair!(throughput: "x ^ y", 16 x 1, |_x| black_box(1) ^ DENSE_64);
    }

    POPCNT_I64: popcnt_i64, operands [POPCNT, POPCNT], chains 9, needs x86_64 "popcnt";
    x86_64 {
        pair! { latency: "popcnt r64, r64", 16 = 16 x ["popcnt {x}, {x}"],
            x = inout(reg) DENSE_64 => _, }
        throughput! { throughput: "popcnt r64, r64", 2 x 12 chains
            [each!(12 "popcnt {", "}, {", "}")], DENSE_64, }
    }
    aarch64 {
        // As compilers write it without FEAT_CSSC: through a vector register.
        pair! { latency: "cnt v.8b, v.8b (with fmov d, x; addv b, v.8b; fmov w, s)", 16 = 16 x
            ["fmov {v:d}, {x:x}", "cnt {v:v}.8b, {v:v}.8b", "addv {v:b}, {v:v}.8b", "fmov {x:w}, {v:s}"],
            x = inout(reg) DENSE_64 => _, v = out(vreg) _, }
        throughput! { throughput: "cnt v.8b, v.8b (with fmov d, x; addv b, v.8b; fmov w, s)",
            2 x 12 chains [each!(12 "fmov {v:d}, {", ":x}\ncnt {v:v}.8b, {v:v}.8b\naddv {v:b}, {v:v}.8b\nfmov {", ":w}, {v:s}")],
            DENSE_64, v = out(vreg) _, }
    }
    portable {
        pair!(latency: "x.count_ones()", 16 x DENSE_64, |x| u64::from(x.count_ones()));
        pair!(throughput: "x.count_ones()", 16 x 0_u32, |_x| black_box(DENSE_64).count_ones());
    }
}
