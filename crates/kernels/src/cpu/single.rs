//! Pairs of loops that stand alone: the empty one, and what Ash's tables have.

use crate::operands::*;
use crate::pair::Pair;

const NO_OPERANDS: &str = "No operands, as there is no operation: the difference of the two loops must \
    come out as 0.";
const ASH_F64_WORDS: &str = "1e8 / 42.3, both loaded from memory for each division and the results not \
    chained, as Ash's unoptimised loop does.";
const ASH_F64_FROM_INT: &str = "1e8 / (double)i with i counting the turns from 1, 1e8 loaded from \
    memory for each division and the results not chained, as Ash's loop does.";
const COPY_16: &str = "From 16 bytes into one block to 16 bytes into another, as Ash's: the size \
    is constant, so a compiler makes one vector load and one vector store of it.";

/// Lists pairs: their name and module, what is said of the operands, and the
/// loops by architecture.
macro_rules! single_pairs {
    ($($NAME:ident: $module:ident, operands $operands:expr;
        x86_64 $x86_64:tt aarch64 $aarch64:tt portable $portable:tt)+) => {
        $(
            mod $module {
                #[allow(unused_imports, reason = "not every loop has operands")]
                use super::*;

                loops! { x86_64 $x86_64 aarch64 $aarch64 portable $portable }
            }

            #[doc = concat!("The loops of `", stringify!($module), "`.")]
            pub static $NAME: Pair = $module::loops::pair($operands, None);
        )+
    };
}

single_pairs! {
    EMPTY: empty, operands NO_OPERANDS;
    x86_64 {
        pair! { loops: "nothing", 16 = 16 x [], }
    }
    aarch64 {
        pair! { loops: "nothing", 16 = 16 x [], }
    }
    portable {
        pair!(loops: "nothing", 16 x (), |_x| ());
    }

    DIV_F64_AS_ASH: div_f64_as_ash, operands ASH_F64_WORDS;
    x86_64 {
        pair! { loops: "divsd xmm, xmm (with two loads)", 10 = 10 x
            ["movsd {a}, [{p}]", "movsd {b}, [{p} + 8]", "divsd {a}, {b}"],
            p = in(reg) &ASH_F64, a = out(xmm_reg) _, b = out(xmm_reg) _, }
    }
    aarch64 {
        pair! { loops: "fdiv d, d, d (with two loads)", 10 = 10 x
            ["ldr {a:d}, [{p}]", "ldr {b:d}, [{p}, #8]", "fdiv {a:d}, {a:d}, {b:d}"],
            p = in(reg) &ASH_F64, a = out(vreg) _, b = out(vreg) _, }
    }
    portable {
        pair!(loops: "x / y", 10 x 0.0, |_x| black_box(ASH_F64[0]) / black_box(ASH_F64[1]));
    }

    DIV_F64_FROM_INT_AS_ASH: div_f64_from_int_as_ash, operands ASH_F64_FROM_INT;
    x86_64 {
        pair! { loops: "divsd xmm, xmm (with cvtsi2sd xmm, r64 and a load)", 10 = 10 x
            ["movsd {a}, [{p}]", "xorps {b}, {b}", "cvtsi2sd {b}, {i}", "divsd {a}, {b}"],
            then ["inc {i}"],
            p = in(reg) &ASH_F64, i = inout(reg) 1u64 => _, a = out(xmm_reg) _, b = out(xmm_reg) _, }
    }
    aarch64 {
        pair! { loops: "fdiv d, d, d (with scvtf d, x and a load)", 10 = 10 x
            ["ldr {a:d}, [{p}]", "scvtf {b:d}, {i:x}", "fdiv {a:d}, {a:d}, {b:d}"],
            then ["add {i:x}, {i:x}, #1"],
            p = in(reg) &ASH_F64, i = inout(reg) 1u64 => _, a = out(vreg) _, b = out(vreg) _, }
    }
    portable {
        pair!(loops: "x / i as f64", 10 x 0.0, |_x| black_box(ASH_F64[0]) / black_box(1u64) as f64);
    }

    // Blocks of 32 bytes; the copy is from and to their second halves.
    MEMCPY_16: memcpy_16, operands COPY_16;
    x86_64 {
        pair! { loops: "movups xmm, m128; movups m128, xmm", 10 = 10 x
            ["movups {a}, [{from} + 16]", "movups [{to} + 16], {a}"],
            from = in(reg) &CopyBlock([1; 32]), to = in(reg) &mut CopyBlock([0; 32]), a = out(xmm_reg) _, }
    }
    aarch64 {
        pair! { loops: "ldr q, m128; str q, m128", 10 = 10 x
            ["ldr {a:q}, [{from}, #16]", "str {a:q}, [{to}, #16]"],
            from = in(reg) &CopyBlock([1; 32]), to = in(reg) &mut CopyBlock([0; 32]), a = out(vreg) _, }
    }
    portable {
        pair!(loops: "a copy of 16 bytes", 10 x CopyBlock([1; 32]), |block| {
            block.0.copy_within(16.., 0);
            block
        });
    }
}
