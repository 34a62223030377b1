//! What the everyday containers cost: growing, sorting, looking up, finding.

mod find_text;
mod hash_lookup;
mod push;
mod push_worst;
mod sort;

use meter::probe::Probe;

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = vec![push::probe(), push_worst::probe(), sort::probe()];
    probes.extend(hash_lookup::probes());
    probes.extend(find_text::probes());
    probes
}
