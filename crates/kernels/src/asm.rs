//! What the loops of both assembly languages have in common. `x86_64/` and
//! `aarch64/` define the lines that differ: `again!` (count `{turns}` down and
//! branch back), `load_pointer!`, `add!` and `multiply!`.

/// A loop of the given lines, counted down from `turns` (at least 1).
macro_rules! counted_loop {
    ($turns:expr, $times:expr, [$($line:expr),*], [$($once:expr),*], $($operands:tt)*) => {
        // SAFETY: works in registers that are declared below; the lines that
        // touch memory say where in the operands.
        unsafe {
            core::arch::asm!(
                ".p2align 6",
                "2:",
                $times,
                $($line,)*
                ".endr",
                $($once,)*
                again!(),
                turns = inout(reg) $turns => _,
                $($operands)*
                options(nostack),
            );
        }
    };
}

/// The same instructions for each of 8, 12 or 14 chains, with the name of the
/// chain in the one or two gaps.
macro_rules! each {
    (8 $($part:literal),+) => {
        each!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h")
    };
    (12 $($part:literal),+) => {
        each!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l")
    };
    (14 $($part:literal),+) => {
        each!(@ ($($part),+) "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l" "m" "n")
    };
    (@ $parts:tt $($chain:literal)+) => {
        concat!($(each!(@chain $parts $chain)),+)
    };
    (@chain ($head:literal, $tail:literal) $chain:literal) => {
        concat!($head, $chain, $tail, "\n")
    };
    (@chain ($copy:literal, $head:literal, $tail:literal) $chain:literal) => {
        concat!($copy, $chain, $head, $chain, $tail, "\n")
    };
}

/// Defines a module with the two loops of a pair.
///
/// `16 = 8 x [lines]` says that the lines, which hold two operations, are
/// repeated 8 times in `single` and 16 times in `double`. A second list stands
/// for `double` where `single` carries its helper twice; lines after `then`
/// are run once a turn.
macro_rules! pair {
    ($name:ident: $instruction:literal, $ops:literal = $n:literal x [$($line:expr),*],
        then [$($once:expr),*], $($operands:tt)*) => {
        pair! { @ true $name: $instruction, $ops = $n x [$($line),*] [$($line),*]
            [$($once),*] { $($operands)* } }
    };
    ($name:ident: $instruction:literal, $ops:literal = $n:literal x [$($line:expr),*],
        $($operands:tt)*) => {
        pair! { @ true $name: $instruction, $ops = $n x [$($line),*] [$($line),*]
            [] { $($operands)* } }
    };
    ($name:ident: $instruction:literal, $ops:literal = $n:literal x
        single [$($single:expr),*], double [$($double:expr),*], $($operands:tt)*) => {
        pair! { @ false $name: $instruction, $ops = $n x [$($single),*] [$($double),*]
            [] { $($operands)* } }
    };
    (@ $alike:literal $name:ident: $instruction:literal, $ops:literal = $n:literal x
        [$($single:expr),*] [$($double:expr),*] $once:tt { $($operands:tt)* }) => {
        pub(crate) mod $name {
            #[allow(unused_imports, reason = "not every loop has operands")]
            use super::*;

            pair_of_module!($instruction, $ops, $alike);

            #[inline(never)]
            fn single(turns: u64) {
                if turns > 0 {
                    counted_loop!(turns, concat!(".rept ", $n), [$($single),*], $once,
                        $($operands)*);
                }
            }

            #[inline(never)]
            fn double(turns: u64) {
                if turns > 0 {
                    counted_loop!(turns, concat!(".rept 2*", $n), [$($double),*], $once,
                        $($operands)*);
                }
            }
        }
    };
}

/// Defines a module with the two loops of a pair of calls: 16 and 32. The
/// counter is in a register that a callee gives back.
macro_rules! calls {
    ($name:ident: $instruction:literal, $line:literal, $counter:tt $again:literal,
        $($operands:tt)*) => {
        pub(crate) mod $name {
            use super::*;

            pair_of_module!($instruction, crate::UNROLL, true);

            #[inline(never)]
            fn single(turns: u64) {
                if turns > 0 {
                    calls!(@ turns, ".rept 16", $line, $counter $again, $($operands)*);
                }
            }

            #[inline(never)]
            fn double(turns: u64) {
                if turns > 0 {
                    calls!(@ turns, ".rept 32", $line, $counter $again, $($operands)*);
                }
            }
        }
    };
    (@ $turns:ident, $times:literal, $line:literal, $counter:tt $again:literal,
        $($operands:tt)*) => {
        // SAFETY: calls a function that touches nothing but registers of its
        // own; without `nostack` the stack is aligned for calls.
        unsafe {
            core::arch::asm!(
                ".p2align 6",
                "2:",
                $times,
                $line,
                ".endr",
                $again,
                inout($counter) $turns => _,
                $($operands)*
                clobber_abi("C"),
            );
        }
    };
}

/// The same two words, of which the optimiser no longer knows anything.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "nothing reads through them here")]
pub(crate) fn hidden([mut first, mut second]: [*const (); 2]) -> [*const (); 2] {
    // SAFETY: no instruction at all.
    unsafe {
        core::arch::asm!(
            "/* {0} {1} */",
            inout(reg) first,
            inout(reg) second,
            options(nomem, nostack, preserves_flags)
        );
    }
    [first, second]
}

/// Puts what follows at a multiple of 64 bytes, as the heads of all loops in assembly are: by no-ops
/// that a loop in Rust runs at the beginning of each turn. In loops of calls that lie as they come,
/// a call that crosses a line of the cache costs some cores several cycles, and U has others than
/// 2U.
#[inline(always)]
pub(crate) fn aligned() {
    // SAFETY: nothing but no-ops.
    unsafe {
        core::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags));
    }
}
