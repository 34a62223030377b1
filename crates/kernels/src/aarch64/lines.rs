//! The lines that differ from the other architecture's, and the forms of
//! throughput loops.
//!
//! Operands come in registers of the compiler's choice. Every instruction has
//! a destination of its own, so nothing waits for what it overwrites.

/// Counts `{turns}` down and branches back.
macro_rules! again {
    () => {
        "subs {turns}, {turns}, #1\nb.ne 2b"
    };
}

/// Follows the pointer in this operand.
macro_rules! load_pointer {
    ($p:ident) => {
        concat!("ldr {", stringify!($p), "}, [{", stringify!($p), "}]")
    };
}

/// Adds `{y}` to `{x}`.
macro_rules! add {
    () => {
        "add {x}, {x}, {y}"
    };
}

/// Multiplies `{x}` by `{y}`.
macro_rules! multiply {
    () => {
        "mul {x}, {x}, {y}"
    };
}

/// Defines the pair of a throughput: independent chains that all start from
/// the same value, 12 of integers (`a` to `l`) gone through twice a turn, or
/// 24 of floats (`a` to `x`), once by each of two lines. What they cover is in
/// `docs/method.md`, and `tests/disassembly.rs` counts them. Divisions and
/// roots have 12 or 16 destinations and the same operands each time.
macro_rules! throughput {
    ($name:ident: $instruction:literal, 2 x 12 chains [$($line:expr),*], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 24 = 2 x [$($line),*], reg $start,
            [a b c d e f g h i j k l] $($operands)* }
    };
    ($name:ident: $instruction:literal, 16 chains [$($line:expr),*], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 16 = 1 x [$($line),*], vreg $start,
            [a b c d e f g h i j k l m n o p] $($operands)* }
    };
    ($name:ident: $instruction:literal, 24 chains [$one:expr, $other:expr], $start:expr,
        $($operands:tt)*) => {
        throughput! { @ $name: $instruction, 48 = 1 x [$one, $other], vreg $start,
            [a b c d e f g h i j k l m n o p q r s t u v w x] $($operands)* }
    };
    (@ $name:ident: $instruction:literal, $ops:literal = $n:literal x [$($line:expr),*],
        $class:ident $start:expr, [$($chain:ident)+] $($operands:tt)*) => {
        pair! { $name: $instruction, $ops = $n x [$($line),*],
            $($chain = inout($class) $start => _,)+
            $($operands)* }
    };
}

/// One instruction for each of so many chains: its name, the modifier of its
/// registers, and its other operand. The chain is the destination and the
/// first source.
macro_rules! chains {
    (12 $($part:literal),+) => {
        chains!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l")
    };
    (24 $($part:literal),+) => {
        chains!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l" "m" "n" "o" "p"
            "q" "r" "s" "t" "u" "v" "w" "x")
    };
    (@ $parts:tt $($chain:literal)+) => {
        concat!($(chains!(@chain $parts $chain)),+)
    };
    (@chain ($name:literal, $modifier:literal, $other:literal) $chain:literal) => {
        concat!($name, " {", $chain, $modifier, "}, {", $chain, $modifier, "}, ", $other, "\n")
    };
}

/// One instruction for each of 12 or 16 destinations, from the same
/// operands each time: nothing to wait for.
macro_rules! copies {
    (12 $($part:literal),+) => {
        copies!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l")
    };
    (16 $($part:literal),+) => {
        copies!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l" "m" "n" "o" "p")
    };
    (@ $parts:tt $($chain:literal)+) => {
        concat!($(copies!(@copy $parts $chain)),+)
    };
    (@copy ($name:literal, $modifier:literal, $others:literal) $chain:literal) => {
        concat!($name, " {", $chain, $modifier, "}, ", $others, "\n")
    };
}
