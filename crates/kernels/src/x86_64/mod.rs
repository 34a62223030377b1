//! The loops for x86-64: baseline instructions (SSE2) in Intel syntax.
//!
//! Every loop counts down with `dec` and `jnz`, which all cores fuse into one
//! operation, and has its head at a multiple of 64 bytes, so that neither a
//! line of the instruction cache nor one of the decoded cache is split by the
//! accident of layout.

pub(crate) mod branch;
pub(crate) mod call;
pub(crate) mod canary;
pub(crate) mod chase;
pub(crate) mod cpu;
pub(crate) mod pages;
pub(crate) mod stream;
