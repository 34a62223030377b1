//! What a process costs: made, replaced by a program, waited for.

mod child;
mod fork_exec;
mod fork_exit;
mod shell;
mod spawn_wait;

use meter::probe::Probe;

/// The group's probes.
pub(crate) fn probes() -> Vec<Probe> {
    vec![
        fork_exit::probe(),
        fork_exec::probe(),
        shell::probe(),
        spawn_wait::probe(),
    ]
}
