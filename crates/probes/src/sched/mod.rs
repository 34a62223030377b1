//! What the scheduler costs.

mod wakeup;

use meter::probe::Probe;

/// The group's probes.
pub(crate) fn probes() -> Vec<Probe> {
    wakeup::probes()
}
