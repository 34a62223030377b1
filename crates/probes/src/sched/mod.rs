//! What the scheduler makes of many threads and processes.

mod pool;
mod ring;

use meter::probe::Probe;

/// The group's probes.
pub(crate) fn probes() -> Vec<Probe> {
    vec![pool::probe(), ring::probe()]
}
