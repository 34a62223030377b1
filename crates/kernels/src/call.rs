//! What reaching code costs: loops that call a function again and again.
//!
//! The statics hold the loops in assembly. The calls that only a compiler can
//! write, through a trait object and a closure, are plain Rust below; before
//! each call both halves of the wide pointer are hidden from the optimiser,
//! so that it can neither see what is called nor keep the address of the
//! function in a register. The virtual call of C++ is in `virtual_call.rs`.

use crate::pair::Pair;
use crate::{arch, unrolled};

/// Why there is no loop of calls into a shared library, if there is none.
pub const SHARED_LIBRARY_MISSING: Option<&str> = if cfg!(target_feature = "crt-static") {
    Some(
        "this latlas is linked statically, so that no call goes through the dynamic linker's \
         table; build it without target-feature=+crt-static",
    )
} else {
    None
};

/// A direct call of a function of this crate that is never inlined and does
/// nothing.
pub static CALL_DIRECT: Pair =
    arch::call::direct::pair("No arguments, and a callee that returns at once.", None);

/// A call of the same function through a pointer.
pub static CALL_POINTER: Pair =
    arch::call::pointer::pair("No arguments; the callee's address stays in a register.", None);

/// A call of the C library's `labs`, reached as the linker has it: through the
/// procedure linkage table of a dynamically linked program
/// ([`SHARED_LIBRARY_MISSING`] says otherwise).
pub static CALL_SHARED_LIBRARY: Pair = arch::call::shared_library::pair(
    "The argument of labs is what its register happens to hold.",
    None,
);

/// What the direct call and the call through a pointer call.
#[inline(never)]
pub(crate) extern "C" fn nothing() {}

unsafe extern "C" {
    /// The absolute value, from the C library: the same on every system, and
    /// three instructions long. Only assembly calls it.
    pub(crate) fn labs(number: core::ffi::c_long) -> core::ffi::c_long;
}

/// A trait with one method, to be called through a trait object.
pub trait Method {
    /// Does something.
    fn method(&self);
}

/// The implementation that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Method for Nothing {
    #[inline(never)]
    fn method(&self) {}
}

/// Calls the object's method [`UNROLL`](crate::UNROLL) times a turn.
#[inline(never)]
pub fn call_dyn_trait_single(object: &dyn Method, turns: u64) {
    for _ in 0..turns {
        arch::aligned();
        unrolled!(hidden_object(object).method());
    }
}

/// Calls the object's method twice [`UNROLL`](crate::UNROLL) times a turn.
#[inline(never)]
pub fn call_dyn_trait_double(object: &dyn Method, turns: u64) {
    for _ in 0..turns {
        arch::aligned();
        unrolled!(hidden_object(object).method());
        unrolled!(hidden_object(object).method());
    }
}

/// Calls the closure [`UNROLL`](crate::UNROLL) times a turn and drops what it returns.
///
/// A boxed closure is called so: `&*boxed` is the same two words.
#[inline(never)]
pub fn call_closure_single(closure: &dyn Fn() -> u64, turns: u64) {
    for _ in 0..turns {
        arch::aligned();
        unrolled!(hidden_closure(closure)());
    }
}

/// Calls the closure twice [`UNROLL`](crate::UNROLL) times a turn.
#[inline(never)]
pub fn call_closure_double(closure: &dyn Fn() -> u64, turns: u64) {
    for _ in 0..turns {
        arch::aligned();
        unrolled!(hidden_closure(closure)());
        unrolled!(hidden_closure(closure)());
    }
}

type FatPointer = [*const (); 2];

#[inline(always)]
fn hidden_object(object: &dyn Method) -> &dyn Method {
    // SAFETY: a reference to a trait object is two words, and the same two come
    // back.
    unsafe {
        let words = core::mem::transmute::<&dyn Method, FatPointer>(object);
        core::mem::transmute::<FatPointer, &dyn Method>(arch::hidden(words))
    }
}

#[inline(always)]
fn hidden_closure<'c>(closure: &'c (dyn Fn() -> u64 + 'c)) -> &'c (dyn Fn() -> u64 + 'c) {
    // SAFETY: a reference to a trait object is two words, and the same two come
    // back.
    unsafe {
        let words = core::mem::transmute::<&'c (dyn Fn() -> u64 + 'c), FatPointer>(closure);
        core::mem::transmute::<FatPointer, &'c (dyn Fn() -> u64 + 'c)>(arch::hidden(words))
    }
}
