//! See `crate::canary`. `turns` is at least 1 in all.

use crate::operands::DENSE_64;

#[inline(always)]
pub(crate) fn taken_branches(turns: u64) {
    counted_loop!(turns, ".rept 0", [], [],);
}

#[inline(always)]
pub(crate) fn dependent_adds(turns: u64) {
    counted_loop!(turns, ".rept 32", [add!()], [],
        x = inout(reg) 0u64 => _, y = in(reg) DENSE_64,);
}

#[inline(always)]
pub(crate) fn dependent_multiplies(turns: u64) {
    counted_loop!(turns, ".rept 32", [multiply!()], [],
        x = inout(reg) 3u64 => _, y = in(reg) DENSE_64,);
}
