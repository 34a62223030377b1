//! The inner loops that latlas measures, and nothing else.
//!
//! Each loop is written in assembly, once for x86-64 and once for AArch64, so
//! that what is measured is what the row says and not what an optimiser made
//! of it. On any other architecture the loops of `portable/` are plain Rust:
//! enough to type-check and to run, not to publish numbers from.
//!
//! The files directly under `src/` are the interface: they say what each
//! kernel does, in which units, and check its preconditions. The files of the
//! same name under `x86_64/`, `aarch64/` and `portable/` hold the loop alone,
//! those under `shared/` what both assembly languages have in common. The
//! instructions of `cpu/` are listed with their loops for all architectures.
//! Which of the three is used is decided here and nowhere else.
//!
//! # Rules of this crate
//!
//! - No operating system, no allocation, no `std`. [`copy()`] and [`fill`] call
//!   the platform's `memcpy` and `memset`, because those are what is measured;
//!   for the same reason an `Arc` is counted up and down that the caller made.
//! - What only a compiler can write (a call through a trait object, an atomic
//!   operation of the language) is compiled Rust, the virtual call compiled
//!   C++ (`cpp/`): the same files for every architecture.
//! - The head of every loop in assembly is aligned to 64 bytes, and the workspace builds
//!   this crate alike in every profile: `tests/disassembly.rs` reads the very
//!   code that ships and counts the instructions of each loop.
//! - A kernel never reads a clock: the caller brackets the call.
//! - Registers hold everything that the loop needs. A loop that touches the
//!   stack says so in its name.
#![warn(missing_docs)]
#![no_std]

extern crate alloc;

#[macro_use]
mod pair;

#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[macro_use]
mod asm;

#[cfg(target_arch = "aarch64")]
#[macro_use]
mod aarch64;
#[cfg(target_arch = "aarch64")]
use aarch64 as arch;

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod x86_64;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
#[macro_use]
mod portable;
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
use portable as arch;

#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod shared;

mod atomic;
mod branch;
mod call;
mod canary;
mod chase;
pub mod checked;
pub mod cpu;
mod libc;
mod operands;
mod pages;
pub mod ring;
mod stream;
mod unrolled;
mod virtual_call;

pub use atomic::{atomic_add_double, atomic_add_single, refcount_double, refcount_single};
pub use branch::branches;
pub use call::{
    CALL_DIRECT, CALL_POINTER, CALL_SHARED_LIBRARY, Method, Nothing, SHARED_LIBRARY_MISSING,
    call_closure_double, call_closure_single, call_dyn_trait_double, call_dyn_trait_single,
};
pub use canary::{
    ADDS_PER_TURN, MULTIPLIES_PER_TURN, dependent_adds, dependent_multiplies, taken_branches,
};
pub use chase::{
    CHASE_UNROLL, PARALLEL_CHASE_UNROLL, PARALLEL_CHASES, chase, chase_on_stack, chase_parallel,
};
pub use cpu::{ash_div_u64_double, ash_div_u64_single};
pub use libc::{copy, fill};
pub use pages::{read_pages, touch_pages};
pub use pair::Pair;
pub use stream::{
    STREAM_UNROLL, STRIDE_UNROLL, VECTOR_UNROLL_BYTES, read_every_4th, read_sequential,
    read_stride, read_vector, read_write_every_4th, read_write_sequential, write_every_4th,
    write_sequential, xor_bytes, xor_bytes_vector,
};
pub use unrolled::UNROLL;
pub use virtual_call::{VIRTUAL_CALL_MISSING, virtual_call};
