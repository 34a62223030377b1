//! Lines of plain Rust, repeated as the assembler's `.rept` does it.

/// Operations in one turn of a loop `_single` of calls or atomic operations;
/// `_double` has twice these.
pub const UNROLL: u32 = 16;

/// Repeats a line [`UNROLL`](crate::UNROLL) times, in a row and without a loop:
/// the U of the loops in compiled Rust.
#[macro_export]
macro_rules! unrolled {
    ($line:expr) => {
        $crate::unrolled!(@ $line; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $line:expr; $($time:literal)*) => {
        $(let _ = $time; $line;)*
    };
}
