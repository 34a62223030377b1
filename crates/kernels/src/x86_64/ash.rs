//! Ash's integer division: see `crate::cpu`.

use crate::operands::ASH_U64;

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
