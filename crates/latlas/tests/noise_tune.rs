//! `latlas noise tune` and `restore`, the real binary: on trees of plain files,
//! killed before each of its actions; and on this machine, as root, with the
//! values read before and after by other means.
#![cfg(target_os = "linux")]

#[path = "noise_tune/bench.rs"]
mod bench;
#[path = "noise_tune/here.rs"]
mod here;
#[path = "noise_tune/shield.rs"]
mod shield;
#[path = "all/support/mod.rs"]
#[allow(dead_code, reason = "the other tests need more of it")]
mod support;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_latlas");
#[path = "noise_tune/trees.rs"]
mod trees;
