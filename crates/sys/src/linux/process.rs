//! `prctl(PR_SET_PDEATHSIG)`.

use std::io;

use rustix::process::{Signal, set_parent_process_death_signal};

pub(crate) fn set_death_signal() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}
