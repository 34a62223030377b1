//! What files cost.

mod system_calls;

use meter::probe::Probe;

/// The group's probes.
pub(crate) fn probes() -> Vec<Probe> {
    system_calls::probes()
}
