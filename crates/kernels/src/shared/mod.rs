//! Loops written once for x86-64 and AArch64, with the instructions that `asm.rs` and the two folders of
//! architectures define: the canaries and the pointer chase. Other architectures have theirs in `portable/`.

pub(crate) mod canary;
pub(crate) mod chase;
