//! What the standard collections cost.

mod push_worst;

use meter::probe::Probe;

/// The group's probes.
pub(crate) fn probes() -> Vec<Probe> {
    vec![push_worst::probe()]
}
