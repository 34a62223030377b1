//! What it costs to keep threads from each other's way, and to be signalled.

mod atomic;
mod contended;
mod lock;
mod once;
mod signal;

use meter::probe::{Effort, Probe};

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = lock::probes();
    probes.push(atomic::probe());
    probes.push(once::probe());
    probes.extend(contended::probes());
    probes.extend(signal::probes());
    probes
}

/// What a short operation on one CPU deserves.
const EFFORT: Effort = Effort::visits(8);
