//! The program `latlas-fleet` as its users run it, with an sbatch, squeue, sinfo and ssh that are scripts
//! (`lab.rs`). `.ci/fleet` tries a real Slurm and a real sshd.
#![allow(clippy::disallowed_methods)]
#![cfg(target_os = "linux")]

mod campaigns;
mod collect;
mod lab;
mod report;
mod ssh;
mod submit;
#[path = "../../../../crates/latlas/tests/all/support/mod.rs"]
#[allow(dead_code)]
mod support;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_latlas-fleet");
