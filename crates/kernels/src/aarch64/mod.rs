//! The loops for AArch64: baseline instructions (NEON included).
//!
//! Every loop counts down with `subs` and `b.ne`, and has its head at a
//! multiple of 64 bytes, so that no line of the instruction cache is split by
//! the accident of layout.

pub(crate) mod branch;
pub(crate) mod call;
pub(crate) mod canary;
pub(crate) mod chase;
pub(crate) mod cpu;
pub(crate) mod pages;
pub(crate) mod stream;
