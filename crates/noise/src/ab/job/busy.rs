//! A load: a process that wants its CPU all the time, and ends with the one
//! that started it.

use super::cpu;
use crate::ab::load::Processes;
use std::io;
use std::os::unix::process::parent_id;
use sys::role::Parent;

/// Steps between two looks for the parent: some milliseconds.
const STEPS: u64 = 4_000_000;

/// Is busy, at the ordinary priority, until it has another parent, and as many more with it, which
/// end with it.
///
/// # Errors
/// That none of these CPUs are to be had, or that one of the others has ended.
pub fn keep_busy(cpus: &[u32], more: u32) -> io::Result<()> {
    let starter = parent_id();
    let mut parent = Parent::connect()?;
    sys::settings::leave_real_time();
    if !cpus.is_empty() {
        sys::pin_to(cpus)?;
    }
    let mut others = Processes::start_processes(more, false, cpus).map_err(io::Error::other)?;
    parent.send(&())?;
    // Where the system can't end it with its parent, this sees to it.
    while parent_id() == starter {
        std::hint::black_box(cpu::run_steps(STEPS));
        others.check_running().map_err(io::Error::other)?;
    }
    Ok(())
}
