//! The forms of loops in plain Rust.

/// Defines a module with the two loops of a pair: from a starting value, so
/// many steps a turn.
macro_rules! pair {
    ($name:ident: $instruction:literal, $ops:literal x $start:expr, |$x:ident| $step:expr) => {
        pub(crate) mod $name {
            #[allow(unused_imports, reason = "not every loop has operands")]
            use super::*;
            #[allow(unused_imports, reason = "not every step needs hiding")]
            use core::hint::black_box;

            pair_of_module!($instruction, $ops, true);

            fn single(turns: u64) {
                repeat(turns * $ops);
            }

            fn double(turns: u64) {
                repeat(turns * 2 * $ops);
            }

            fn repeat(steps: u64) {
                let mut $x = $start;
                for _ in 0..steps {
                    $x = black_box($step);
                }
                black_box($x);
            }
        }
    };
}

/// Keeps the loops in plain Rust.
macro_rules! loops {
    (x86_64 $x86_64:tt aarch64 $aarch64:tt portable { $($own:tt)* }) => { $($own)* };
}
