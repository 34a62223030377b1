//! What an instruction costs.

mod arithmetic;
mod as_ash;
mod branch;
mod copying;
mod frequency;
mod timer;

use meter::probe::Probe;

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = arithmetic::probes();
    probes.extend(as_ash::probes());
    probes.push(copying::small());
    probes.push(copying::large());
    probes.push(branch::probe());
    probes.push(frequency::probe());
    probes.push(timer::probe());
    probes
}
