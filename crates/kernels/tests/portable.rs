//! The fallback for other architectures, built and checked on this one: the
//! same interface over `portable/`, and the same suite.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "the files are parts of another crate"
)]

#[path = "../src/unrolled.rs"]
mod unrolled;
pub use unrolled::UNROLL;

#[macro_use]
#[path = "../src/pair.rs"]
mod pair;

#[macro_use]
#[path = "../src/portable/mod.rs"]
mod portable;
use portable as arch;

#[path = "../src/branch.rs"]
mod branch;
#[path = "../src/call.rs"]
mod call;
#[path = "../src/canary.rs"]
mod canary;
#[path = "../src/chase.rs"]
mod chase;
#[path = "../src/cpu/mod.rs"]
pub mod cpu;
#[path = "../src/libc.rs"]
mod libc;
#[path = "../src/operands.rs"]
mod operands;
#[path = "../src/pages.rs"]
mod pages;
#[path = "../src/stream.rs"]
mod stream;

mod kernels {
    pub use crate::{
        UNROLL, branch::*, call::*, canary::*, chase::*, cpu, cpu::*, libc::*, pages::*, pair::*,
        stream::*,
    };
}

mod suite;
