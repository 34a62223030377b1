//! See `crate::call` for what the loops call.
//!
//! What must outlive a call is in registers that a callee gives back:
//! `x20` and `x21`.

use crate::call::{labs, nothing};

calls! { direct: "bl", "bl {callee}", "x20" "subs x20, x20, #1\nb.ne 2b", callee = sym nothing, }

calls! { pointer: "blr x", "blr x21", "x20" "subs x20, x20, #1\nb.ne 2b", in("x21") nothing as *const (), }

// The assembler marks a call of a function elsewhere for the linker, which
// puts an entry of the procedure linkage table between.
calls! { shared_library: "bl (labs, through the procedure linkage table)",
"bl {callee}", "x20" "subs x20, x20, #1\nb.ne 2b", callee = sym labs, }
