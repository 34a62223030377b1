//! What a thread costs.

mod create_join;
mod end;
mod joins;
mod lifecycle;

use meter::probe::Probe;

pub(crate) fn probes() -> Vec<Probe> {
    vec![create_join::probe(), lifecycle::probe()]
}
