//! `latlas noise tune` and `restore`, the real binary: on trees of plain files,
//! killed before each of its actions; and on this machine, as root, with the
//! values read before and after by other means.

#[path = "noise_tune/bench.rs"]
mod bench;
mod copied;
#[path = "noise_tune/here.rs"]
mod here;
#[path = "noise_tune/shield.rs"]
mod shield;
#[path = "noise_tune/trees.rs"]
mod trees;
