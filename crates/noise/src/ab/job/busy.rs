//! A load: a process that wants its CPU all the time, and ends with the one
//! that started it.

use super::{Report, cpu};
use crate::ab::load::{Processes, READY};
use std::io::{self, Write};

/// Steps between two looks for the parent: some milliseconds.
const STEPS: u64 = 4_000_000;

/// Is busy, at the ordinary priority, until the process of that id is no longer its parent, and as many
/// more with it, which end with it.
///
/// # Errors
/// That there is no such parent, none of these CPUs to be had, or that one of
/// the others has ended.
pub fn run(parent: u32, cpus: &[u32], more: u32) -> io::Result<Report> {
    // Where the system can't promise it, the looks below see to it.
    match sys::die_with_parent_id(parent) {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
        _ => {}
    }
    sys::settings::leave_real_time();
    if !cpus.is_empty() {
        sys::pin_to(cpus)?;
    }
    let mut others = Processes::start(more, false, cpus)?;
    io::stdout().write_all(READY)?;
    io::stdout().flush()?;
    let mut report = Report::default();
    while std::os::unix::process::parent_id() == parent {
        report.check ^= cpu::run(STEPS).check;
        report.done += STEPS;
        others.check().map_err(io::Error::other)?;
    }
    Ok(report)
}
