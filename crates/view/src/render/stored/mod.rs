//! Stored runs, machines and figures as blocks, with links for pages that have
//! them: `latlas atlas` and the server's pages paint the same.

mod figures;
mod runs;

pub use figures::{percentiles, results, standing};
pub use runs::{machines, run_facts, runs_lines, runs_table};
