//! The loops for x86-64: baseline instructions (SSE2) in Intel syntax.
//!
//! Every loop counts down with `dec` and `jnz`, which all cores fuse into one
//! operation, and has its head at a multiple of 64 bytes, so that neither a
//! line of the instruction cache nor one of the decoded cache is split by the
//! accident of layout.

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
    (x86_64 { $($own:tt)* } aarch64 $aarch64:tt portable $portable:tt) => { $($own)* };
}
