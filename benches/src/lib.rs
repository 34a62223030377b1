//! What the programs in `src/bin` share: the operations that the tools are
//! compared on, measuring with latlas in a process of its own, running a peer,
//! tables, spreads and bars.
//!
//! Each program shows one claim of the project: it prints a table, a line for
//! each bar, and exits 1 when a bar is missed (2 when it could not work).
#![forbid(unsafe_code)]

pub mod bars;
pub mod beside;
pub mod busy;
pub mod made_up;
pub mod operations;
pub mod ours;
pub mod pairs;
pub mod process;
pub mod rejudge;
pub mod slowed;
pub mod spread;
pub mod table;
pub mod values;

use std::process::ExitCode;

/// Turns the result of a program into its exit code: 0 all bars hold, 1 a bar
/// is missed, 2 it could not work.
pub fn finish(result: anyhow::Result<bars::Bars>) -> ExitCode {
    match result {
        Ok(bars) => bars.conclude(),
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(2)
        }
    }
}
