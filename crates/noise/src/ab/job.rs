//! The jobs that are run with a control and without: this program started
//! again, as a process that does a fixed amount of work and says what it did.
//!
//! The report goes to standard output as JSON: `exec`'s runner times them.

pub mod busy;
pub mod cpu;
pub mod files;
pub mod memory;
mod order;
pub mod wakeup;

pub use order::{Job, Report};

use std::io::{self, Write};
use sys::role::Task;

/// Does the job and prints its report.
///
/// # Errors
/// A job that is none, files that can't be read, and what the system refuses to a busy one.
pub fn serve(task: &Task) -> io::Result<()> {
    let job: Job = task.order()?;
    let began_ns = sys::monotonic_raw_ns();
    let mut report = match job {
        Job::Cpu { steps } => cpu::run(steps),
        Job::Memory { steps, bytes } => memory::run(steps, bytes)?,
        Job::Wakeup { sleeps } => wakeup::run(sleeps),
        Job::Files { directory } => files::run(&directory)?,
        Job::Busy { cpus, more } => return busy::run(&cpus, more),
    };
    report.took_ns = sys::monotonic_raw_ns().saturating_sub(began_ns);
    io::stdout().write_all(&serde_json::to_vec(&report)?)
}
