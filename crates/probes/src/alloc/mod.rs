//! What memory costs before it is used: allocated, mapped, counted.

mod malloc;
mod mapping;
mod refcount;

use meter::probe::Probe;

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = malloc::probes();
    probes.extend(mapping::probes());
    probes.push(refcount::probe());
    probes
}
