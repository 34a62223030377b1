//! Lines of plain Rust, repeated as the assembler's `.rept` does it.

/// Repeats a line 16 times: the U of the loops in compiled Rust.
macro_rules! unrolled {
    ($line:expr) => {
        unrolled!(@ $line; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $line:expr; $($time:literal)*) => {
        $(let _ = $time; $line;)*
    };
}
