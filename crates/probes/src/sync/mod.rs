//! Rows of synchronisation: locks and atomics (`contended.rs`: wanted by two CPUs), one-time initialisation,
//! signals. The rows `sync.handoff` and `sync.semaphore_switch`, in which one thread wakes another, are in
//! `handoff/`.

mod atomic;
mod contended;
mod lock;
mod once;
mod signal;

use meter::probe::{Effort, Probe};

pub(crate) fn sync_probes() -> Vec<Probe> {
    let mut probes = lock::lock_probes();
    probes.push(atomic::atomic_probe());
    probes.push(once::once_probe());
    probes.extend(contended::contended_probes());
    probes.extend(signal::signal_probes());
    probes
}

/// What a short operation on one CPU deserves.
const EFFORT: Effort = Effort::visits(8);
