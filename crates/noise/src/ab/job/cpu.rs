//! Work that needs nothing but a core: each step needs the one before, all
//! stays in registers.

use super::JobReport;
use std::hint::black_box;

/// So many steps of Marsaglia's xorshift (J. Stat. Softw. 8, 2003, 14).
pub fn run_steps(steps: u64) -> JobReport {
    let mut x = black_box(0x2545_f491_4f6c_dd1d_u64);
    let mut done = 0;
    while done < steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        done += 1;
    }
    JobReport { done, check: x, ..JobReport::default() }
}
