//! See `crate::canary`.

use core::hint::black_box;

pub(crate) fn taken_branches(turns: u64) {
    for turn in 0..turns {
        black_box(turn);
    }
}

pub(crate) fn dependent_adds(turns: u64) {
    let mut sum = 0u64;
    for _ in 0..turns * u64::from(crate::canary::ADDS_PER_TURN) {
        sum = black_box(sum.wrapping_add(crate::operands::DENSE_64));
    }
}

pub(crate) fn dependent_multiplies(turns: u64) {
    let mut product = 3u64;
    for _ in 0..turns * u64::from(crate::canary::MULTIPLIES_PER_TURN) {
        product = black_box(product.wrapping_mul(crate::operands::DENSE_64));
    }
}
