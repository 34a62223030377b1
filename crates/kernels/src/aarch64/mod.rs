//! The loops for AArch64: baseline instructions (NEON included).
//!
//! Every loop counts down with `subs` and `b.ne`, and has its head at a
//! multiple of 64 bytes, so that no line of the instruction cache is split by
//! the accident of layout.

#[macro_use]
mod lines;

pub(crate) mod ash;
pub(crate) mod branch;
pub(crate) mod call;
pub(crate) mod chase_on_stack;
pub(crate) mod pages;
pub(crate) mod stream;

pub(crate) use crate::asm::{aligned, hidden};
pub(crate) use crate::shared::{canary, chase};

/// Keeps the loops of this architecture.
macro_rules! loops {
    (x86_64 $x86_64:tt aarch64 { $($own:tt)* } portable $portable:tt) => { $($own)* };
}
