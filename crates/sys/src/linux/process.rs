//! `prctl(PR_SET_PDEATHSIG)`, the emulator and limits.

use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Signal, set_parent_process_death_signal};

use super::cgroup;
use crate::files::Tree;

pub(crate) fn set_death_signal() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// The emulator that runs this process, if one does: an emulator in user mode
/// answers `/proc/self/exe` itself with the program's name, while the kernel's
/// `/proc/thread-self/exe` leads to the emulator.
pub(crate) fn emulator() -> Option<PathBuf> {
    let seen_by_us = std::fs::read_link("/proc/self/exe").ok()?;
    let seen_by_kernel = std::fs::read_link("/proc/thread-self/exe").ok()?;
    (seen_by_us != seen_by_kernel).then_some(seen_by_kernel)
}

pub(crate) fn group_limit() -> Option<u64> {
    cgroup::most_processes(&Tree::new(Path::new("/"))).ok()?
}
