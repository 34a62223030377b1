//! Ash's integer division: see `crate::cpu`.

use crate::operands::ASH_U64;

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
