//! What interrupts cost on this machine.

use crate::stats::middle;
use crate::trace::{InterruptKind, State, Trace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Interrupts of a kind from which on they have a price.
const LEAST: usize = 5;

/// What a spinning thread lost time to: finds the price of an interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spin {
    /// The thread.
    pub thread: u32,
    /// When it was interrupted, from and to.
    pub detours: Vec<(u64, u64)>,
    /// What a page fault took.
    pub fault_ns: u64,
    /// Interrupts that the kernel counted on its CPU, in the order of
    /// [`InterruptKind::ALL`].
    pub interrupts: [u32; 4],
}

/// The price of an interrupt: the mean length of detours of a spinning thread in which there was
/// one of its kind and nothing else, since many cost as much together; none of a kind of which
/// there were fewer than five. Where no interrupt was recorded, see [`by_counts`].
pub(crate) fn prices(
    trace: &Trace,
    spin: &Spin,
    detours: &[(u64, u64)],
) -> BTreeMap<InterruptKind, u64> {
    if trace.cpus.iter().all(|cpu| cpu.interrupts.is_empty()) {
        return by_counts(&spin.interrupts, detours);
    }
    let mut lengths: BTreeMap<InterruptKind, Vec<u64>> = BTreeMap::new();
    let threads = trace.threads.iter();
    let threads: Vec<_> = threads.filter(|thread| thread.id == spin.thread).collect();
    let cpus = trace.cpus_by_number();
    for &(from_ns, to_ns) in detours {
        let mut own = threads.iter();
        let Some(thread) = own.find(|t| t.from_ns <= from_ns && to_ns <= t.to_ns) else {
            continue;
        };
        let after = thread.segments.partition_point(|s| s.from_ns <= from_ns);
        let segment = after.checked_sub(1).map(|at| thread.segments[at]);
        let Some(State::Running(cpu)) = segment.filter(|s| s.to_ns >= to_ns).map(|s| s.state)
        else {
            continue;
        };
        let Some(cpu) = cpus.get(&cpu) else {
            continue;
        };
        let from = cpu.interrupts.partition_point(|i| i.at_ns < from_ns);
        let within = cpu.interrupts[from..].iter();
        let within = within.take_while(|i| i.at_ns <= to_ns);
        let kinds: Vec<InterruptKind> = within.map(|interrupt| interrupt.kind).collect();
        if let [kind] = kinds[..] {
            lengths.entry(kind).or_default().push(to_ns - from_ns);
        }
    }
    lengths.retain(|_, lengths| lengths.len() >= LEAST);
    let medians = lengths.into_iter();
    medians.filter_map(|(kind, lengths)| Some((kind, mean(lengths)?))).collect()
}

/// The same where interrupts are only counted: a price of the kind that nearly all were of,
/// if there were about as many detours.
fn by_counts(counts: &[u32; 4], detours: &[(u64, u64)]) -> BTreeMap<InterruptKind, u64> {
    const NEARLY_ALL: f64 = 0.8;
    const ABOUT: std::ops::RangeInclusive<f64> = 0.8..=1.25;
    let all = counts.iter().map(|&count| f64::from(count)).sum::<f64>();
    let kinds = InterruptKind::ALL.into_iter().zip(counts);
    let main = kinds.max_by_key(|(_, count)| **count);
    let main = main.filter(|(_, count)| {
        **count as usize >= LEAST
            && f64::from(**count) >= all * NEARLY_ALL
            && ABOUT.contains(&(detours.len() as f64 / all))
    });
    let lengths = || detours.iter().map(|(from, to)| to - from).collect();
    main.and_then(|(kind, _)| Some((kind, mean(lengths())?))).into_iter().collect()
}

/// The mean of lengths, without those of which something else had the most: a hypervisor, say.
fn mean(mut lengths: Vec<u64>) -> Option<u64> {
    const MOST: u64 = 10;
    let median = middle(lengths.clone())?;
    lengths.retain(|&length| length <= median.saturating_mul(MOST));
    let sum: u128 = lengths.iter().map(|&length| u128::from(length)).sum();
    u64::try_from(sum / lengths.len().max(1) as u128).ok()
}
