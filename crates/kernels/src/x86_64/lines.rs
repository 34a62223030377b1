//! The lines that differ from the other architecture's, and the forms of
//! throughput loops.
//!
//! Operands come in registers of the compiler's choice, except where the
//! instruction itself insists (`div`: rax and rdx). No instruction writes only
//! a part of a register whose rest it would have to wait for: 32-bit results
//! clear the upper half, and a `movaps` or `xorps` comes before the
//! conversions and roots that would keep the upper half of a vector.

/// Counts `{turns}` down and branches back.
macro_rules! again {
    () => {
        "dec {turns}\njnz 2b"
    };
}

/// Follows the pointer in this operand.
macro_rules! load_pointer {
    ($p:ident) => {
        concat!("mov {", stringify!($p), "}, [{", stringify!($p), "}]")
    };
}

/// Adds `{y}` to `{x}`.
macro_rules! add {
    () => {
        "add {x}, {y}"
    };
}

/// Multiplies `{x}` by `{y}`.
macro_rules! multiply {
    () => {
        "imul {x}, {y}"
    };
}

/// Defines the pair of a throughput: independent chains that all start from
/// the same value, 12 of integers (`a` to `l`) gone through twice a turn, or
/// 14 of floats (`a` to `n`), once by each of two lines. That is all registers
/// but the counter's and the other operands'. What they cover is in
/// `docs/method.md`, and `tests/disassembly.rs` counts them.
macro_rules! throughput {
    ($name:ident: $instruction:literal, 2 x 12 chains [$line:expr], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 24 = 2 x [$line], reg $start,
            [a b c d e f g h i j k l] $($operands)* }
    };
    ($name:ident: $instruction:literal, 14 chains [$one:expr, $other:expr], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 28 = 1 x [$one, $other], xmm_reg $start,
            [a b c d e f g h i j k l m n] $($operands)* }
    };
    (@ $name:ident: $instruction:literal, $ops:literal = $n:literal x [$($line:expr),*],
        $class:ident $start:expr, [$($chain:ident)+] $($operands:tt)*) => {
        pair! { $name: $instruction, $ops = $n x [$($line),*],
            $($chain = inout($class) $start => _,)+
            $($operands)* }
    };
}

/// Defines the pair of a throughput without chains: 16 operations with eight
/// destinations, each from a fresh copy of the same operand, so that none
/// waits for another.
macro_rules! unchained {
    ($name:ident: $instruction:literal, [$line:expr], $($operands:tt)*) => {
        pair! { $name: $instruction, 16 = 2 x [$line],
            a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
            e = out(xmm_reg) _, f = out(xmm_reg) _, g = out(xmm_reg) _, h = out(xmm_reg) _,
            $($operands)* }
    };
}
