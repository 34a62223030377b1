//! What files cost.

mod cached;
mod create_delete;
mod prepared;
mod read;
mod reader;
mod system_calls;
mod write_whole;

use meter::probe::Probe;

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = read::probes();
    probes.push(create_delete::probe());
    probes.extend(read::whole());
    probes.extend(write_whole::probes());
    probes.extend(system_calls::probes());
    probes
}
