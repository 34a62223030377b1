//! Stretches of time as pairs of their ends.

/// Stretches without overlaps, in the order of time.
pub(super) fn united(mut stretches: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    stretches.sort_unstable();
    let mut united: Vec<(u64, u64)> = Vec::new();
    for (from_ns, to_ns) in stretches {
        match united.last_mut() {
            Some(last) if from_ns <= last.1 => last.1 = last.1.max(to_ns),
            _ => united.push((from_ns, to_ns)),
        }
    }
    united
}

/// What of these stretches is in none of the others.
pub(super) fn without(stretches: &[(u64, u64)], others: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut left = Vec::new();
    for &(mut from_ns, to_ns) in stretches {
        let first = others.partition_point(|other| other.1 <= from_ns);
        for other in others[first..].iter().take_while(|other| other.0 < to_ns) {
            left.push((from_ns, other.0.max(from_ns)));
            from_ns = other.1.min(to_ns);
        }
        left.push((from_ns, to_ns));
    }
    left.retain(|(from_ns, to_ns)| from_ns < to_ns);
    left
}

/// How much of a stretch lies in these.
pub(super) fn overlap_ns(stretches: &[(u64, u64)], from_ns: u64, to_ns: u64) -> u64 {
    let first = stretches.partition_point(|stretch| stretch.1 <= from_ns);
    let within = stretches[first..].iter().take_while(|stretch| stretch.0 < to_ns);
    within.map(|&(from, to)| to.min(to_ns) - from.max(from_ns)).sum()
}
