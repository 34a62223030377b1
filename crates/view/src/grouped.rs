//! What several things have in common, said once.

use std::collections::HashMap;
use std::hash::Hash;

/// Things by what they have in common, both in the order of their first mention.
pub(crate) fn grouped<K: Clone + Eq + Hash, V>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    let mut places = HashMap::new();
    for (key, value) in pairs {
        let place = *places.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}
