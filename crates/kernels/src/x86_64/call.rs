//! See `crate::call` for what the loops call.
//!
//! What must outlive a call is in registers that a callee gives back:
//! `r12` and `r13`.

use crate::call::{labs, nothing};
use core::arch::asm;

/// Defines a module with the two loops of a pair: 16 calls and 32.
macro_rules! calls {
    ($name:ident: $instruction:literal, $line:literal, $($operands:tt)*) => {
        pub(crate) mod $name {
            use super::*;

            pub(crate) const INSTRUCTION: &str = $instruction;

            #[inline(never)]
            pub(crate) fn single(turns: u64) {
                if turns > 0 {
                    calls!(@ turns, ".rept 16", $line, $($operands)*);
                }
            }

            #[inline(never)]
            pub(crate) fn double(turns: u64) {
                if turns > 0 {
                    calls!(@ turns, ".rept 32", $line, $($operands)*);
                }
            }
        }
    };
    (@ $turns:ident, $times:literal, $line:literal, $($operands:tt)*) => {
        // SAFETY: calls a function that touches nothing but registers of its
        // own; without `nostack` the stack is aligned for calls.
        unsafe {
            asm!(
                ".p2align 6",
                "2:",
                $times,
                $line,
                ".endr",
                "dec r12",
                "jnz 2b",
                inout("r12") $turns => _,
                $($operands)*
                clobber_abi("C"),
            );
        }
    };
}

calls! { direct: "call rel32", "call {callee}", callee = sym nothing, }

// With a no-op each call is as long as a direct one. Without it 21 of them lie
// in a cache line, which is more than the branch predictor of some cores keeps of
// a line: 32 in a row then take longer than twice 16.
calls! { pointer: "call r64 (with a no-op of two bytes)", "call r13\nxchg ax, ax",
in("r13") nothing as *const (), }

// The assembler marks a call of a function elsewhere for the linker, which
// puts an entry of the procedure linkage table between.
calls! { shared_library: "call rel32 (labs, through the procedure linkage table)",
"call {callee}", callee = sym labs, }

/// The same two words, of which the optimiser no longer knows anything.
#[inline(always)]
#[allow(
    clippy::pointers_in_nomem_asm_block,
    reason = "nothing reads through them here"
)]
pub(crate) fn hidden([mut first, mut second]: [*const (); 2]) -> [*const (); 2] {
    // SAFETY: no instruction at all.
    unsafe {
        asm!(
            "/* {0} {1} */",
            inout(reg) first,
            inout(reg) second,
            options(nomem, nostack, preserves_flags)
        );
    }
    [first, second]
}
