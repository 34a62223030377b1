//! What interrupts cost on this machine.

use crate::trace::{InterruptKind, State, Trace};
use std::collections::BTreeMap;

/// Interrupts of a kind from which on they have a price.
const LEAST: usize = 5;

/// The price of an interrupt: the median length of detours of a spinning thread in
/// which there was one of its kind and nothing else; none of a kind of which there were
/// fewer than five.
pub(crate) fn prices(
    trace: &Trace,
    spinner: u32,
    detours: &[(u64, u64)],
) -> BTreeMap<InterruptKind, u64> {
    let mut lengths: BTreeMap<InterruptKind, Vec<u64>> = BTreeMap::new();
    for &(from_ns, to_ns) in detours {
        let Some(thread) = trace
            .threads
            .iter()
            .find(|t| t.id == spinner && t.from_ns <= from_ns && to_ns <= t.to_ns)
        else {
            continue;
        };
        let after = thread.segments.partition_point(|s| s.from_ns <= from_ns);
        let segment = after.checked_sub(1).map(|at| thread.segments[at]);
        let Some(State::Running(cpu)) = segment.filter(|s| s.to_ns >= to_ns).map(|s| s.state)
        else {
            continue;
        };
        let Some(cpu) = trace.cpus.iter().find(|known| known.id == cpu) else {
            continue;
        };
        let within = cpu
            .interrupts
            .iter()
            .filter(|i| (from_ns..=to_ns).contains(&i.at_ns));
        let kinds: Vec<InterruptKind> = within.map(|interrupt| interrupt.kind).collect();
        if let [kind] = kinds[..] {
            lengths.entry(kind).or_default().push(to_ns - from_ns);
        }
    }
    lengths.retain(|_, lengths| lengths.len() >= LEAST);
    let medians = lengths.into_iter().map(|(kind, mut lengths)| {
        lengths.sort_unstable();
        (kind, lengths[lengths.len() / 2])
    });
    medians.collect()
}
