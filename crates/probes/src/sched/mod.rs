//! What the scheduler makes of many threads and processes.

mod pool;
mod ring;
mod wakeup;

use meter::probe::Probe;

/// The group's probes.
pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = wakeup::probes();
    probes.extend([pool::probe(), ring::probe()]);
    probes
}
