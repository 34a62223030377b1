//! The program `latlas-serve` as its users run it: started, ended and refused, with its exit codes and
//! messages. What the server answers is tested in `tests/serve`.
#![allow(clippy::disallowed_methods)]

mod serving;
#[path = "../../../../crates/latlas/tests/all/support/mod.rs"]
#[allow(dead_code)]
mod support;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_latlas-serve");
