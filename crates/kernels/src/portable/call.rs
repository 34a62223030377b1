//! See `crate::call` for what the loops call.

use crate::UNROLL;
use crate::call::{labs, nothing};
use core::hint::black_box;

/// Defines a module with the two loops of a pair.
macro_rules! calls {
    ($name:ident: $instruction:literal, $call:expr) => {
        pub(crate) mod $name {
            use super::*;

            pair_of_module!($instruction, UNROLL, true);

            fn single(turns: u64) {
                for _ in 0..turns * u64::from(UNROLL) {
                    $call;
                }
            }

            fn double(turns: u64) {
                single(2 * turns);
            }
        }
    };
}

calls!(direct: "a call", nothing());
calls!(pointer: "a call through a pointer", black_box(nothing as extern "C" fn())());
calls!(shared_library: "a call of labs", {
    // SAFETY: any number but the least has an absolute value.
    unsafe { black_box(labs(black_box(1))) }
});
