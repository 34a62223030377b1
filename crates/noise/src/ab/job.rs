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

pub use order::{JobReport, NoiseJob};

use std::io::{self, Write};
use sys::role::RoleTask;

/// Does the job and prints its report.
///
/// # Errors
/// A job that is none, files that can't be read, and what the system refuses to a busy one.
pub fn serve(task: &RoleTask) -> io::Result<()> {
    let job: NoiseJob = task.order()?;
    let began_ns = sys::monotonic_raw_ns();
    let mut report = match job {
        NoiseJob::Cpu { steps } => cpu::run_steps(steps),
        NoiseJob::Memory { steps, bytes } => memory::chase_memory(steps, bytes)?,
        NoiseJob::Wakeup { sleeps } => wakeup::sleep_repeatedly(sleeps),
        NoiseJob::Files { directory } => files::read_files(&directory)?,
        NoiseJob::Busy { cpus, more } => return busy::keep_busy(&cpus, more),
    };
    report.took_ns = sys::monotonic_raw_ns().saturating_sub(began_ns);
    io::stdout().write_all(&serde_json::to_vec(&report)?)
}
