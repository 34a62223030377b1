//! Rows of containers: push to a growing array, sort, look up in a hash table, search a text. `push_worst.rs`
//! has the longest single push of a million, `push.rs` the usual one.

mod find_text;
mod hash_lookup;
mod push;
mod push_worst;
mod sort;

use meter::probe::Probe;

pub(crate) fn collections_probes() -> Vec<Probe> {
    let mut probes = vec![push::push_probe(), push_worst::push_worst_probe(), sort::sort_probe()];
    probes.extend(hash_lookup::hash_lookup_probes());
    probes.extend(find_text::find_text_probes());
    probes
}
