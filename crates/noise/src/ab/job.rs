//! The jobs that are run with a control and without: this program started
//! again, as a process that does a fixed amount of work and says what it did.
//!
//! What to do stands in the arguments, behind [`ROLE`]; the report goes to
//! standard output as JSON.

pub mod busy;
pub mod cpu;
pub mod files;
pub mod memory;
mod order;
pub mod wakeup;

pub use order::{Job, ROLE, Report};

use std::io::{self, Write};

/// Does the work.
///
/// # Errors
/// Files that can't be read, and what the system refuses to a busy one.
fn run(job: &Job) -> io::Result<Report> {
    match job {
        Job::Cpu { steps } => Ok(cpu::run(*steps)),
        Job::Memory { steps, bytes } => memory::run(*steps, *bytes),
        Job::Wakeup { sleeps } => Ok(wakeup::run(*sleeps)),
        Job::Files { directory } => files::run(directory),
        Job::Busy { parent, cpus, more } => busy::run(*parent, cpus, *more),
    }
}

/// Does the job and prints its report.
///
/// # Errors
/// A job that is none, or that fails.
pub fn serve(job: &str) -> io::Result<()> {
    let internal = |_| io::Error::other(format!("{ROLE} is internal to latlas"));
    let job: Job = serde_json::from_str(job).map_err(internal)?;
    let began_ns = sys::monotonic_raw_ns();
    let mut report = run(&job)?;
    report.took_ns = sys::monotonic_raw_ns().saturating_sub(began_ns);
    io::stdout().write_all(&serde_json::to_vec(&report)?)
}
