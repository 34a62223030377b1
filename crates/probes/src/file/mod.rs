//! What files cost.

mod create_delete;
mod read_whole;
mod system_calls;
mod write_whole;

use meter::probe::Probe;

/// The group's probes.
pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = system_calls::probes();
    probes.push(create_delete::probe());
    probes.extend(read_whole::probes());
    probes.extend(write_whole::probes());
    probes
}
