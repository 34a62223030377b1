//! What the scheduler makes of many threads and processes.

mod pool;
mod ring;
mod timer;
mod wakeup;

use meter::probe::Probe;

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = wakeup::probes();
    probes.extend([timer::probe(), pool::probe(), ring::probe()]);
    probes
}
