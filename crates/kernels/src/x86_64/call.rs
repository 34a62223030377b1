//! See `crate::call` for what the loops call.
//!
//! What must outlive a call is in registers that a callee gives back:
//! `r12` and `r13`.

use crate::call::{labs, nothing};

calls! { direct: "call rel32", "call {callee}", "r12" "dec r12\njnz 2b", callee = sym nothing, }

// With a no-op each call is as long as a direct one. Without it 21 of them lie
// in a cache line, which is more than the branch predictor of some cores keeps of
// a line: 32 in a row then take longer than twice 16.
calls! { pointer: "call r64 (with a no-op of two bytes)", "call r13\nxchg ax, ax", "r12" "dec r12\njnz 2b",
in("r13") nothing as *const (), }

// The assembler marks a call of a function elsewhere for the linker, which
// puts an entry of the procedure linkage table between.
calls! { shared_library: "call rel32 (labs, through the procedure linkage table)",
"call {callee}", "r12" "dec r12\njnz 2b", callee = sym labs, }
