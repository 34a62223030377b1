//! Ash's integer division: see `crate::cpu`.

use crate::operands::ASH_U64;
use core::hint::black_box;

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
