//! Interrupts that are counted at an interval, and not recorded one by one.

use super::Prices;
use super::path::Path;
use super::sums::Touching;
use crate::trace::row::{TracedOperation, WatchReading};
use crate::trace::{InterruptKind, Trace, TracedRow};

const KINDS: usize = InterruptKind::ALL.len();

/// What the kernel counted, and the time that operations ran longer than usual.
pub(super) struct KernelCounts<'t> {
    readings: &'t [WatchReading],
    /// The counts of all readings before each, and of all.
    before: Vec<[u64; KINDS]>,
    /// Operations with the time that they ran longer, in ns.
    longer: Touching,
}

impl<'t> KernelCounts<'t> {
    /// Nothing where the interrupts themselves are recorded.
    pub(super) fn from_trace(
        trace: &Trace,
        row: &'t TracedRow,
        longer_ns: &[u64],
    ) -> KernelCounts<'t> {
        let is_recorded = trace.cpus.iter().any(|cpu| !cpu.interrupts.is_empty());
        let watch = row.watch.as_ref().filter(|_| !is_recorded);
        let readings = watch.map_or(&[][..], |watch| &watch.readings);
        let mut sums = [0; KINDS];
        let sums = readings.iter().map(|reading| {
            let counts = sums.iter_mut().zip(reading.interrupts);
            counts.for_each(|(sum, count)| *sum += u64::from(count));
            sums
        });
        let operations = row.operations.iter().zip(longer_ns);
        KernelCounts {
            readings,
            before: std::iter::once([0; KINDS]).chain(sums).collect(),
            longer: Touching::from_stretches(operations.map(|(o, &ns)| ((o.from_ns, o.to_ns), ns))),
        }
    }

    /// What interrupts took of the time that an operation ran longer: their share in all that
    /// operations ran longer between the readings around it. Nothing where they explain less than
    /// most of that, since then another cause is at work, or has their place: the price of one
    /// interrupt leaves out what it costs the program afterwards, a fifth of all in a storm.
    pub(super) fn interrupts(
        &self,
        operation: &TracedOperation,
        path: &Path,
        left_ns: f64,
        prices: &Prices<'_>,
    ) -> Vec<(InterruptKind, f64)> {
        const MOST: f64 = 0.65;
        let readings = self.readings;
        let from = readings.partition_point(|r| r.at_ns <= operation.from_ns);
        let to = readings.partition_point(|r| r.at_ns < operation.to_ns);
        let (Some(first), Some(last)) = (from.checked_sub(1), readings.get(to)) else {
            return Vec::new();
        };
        if !path.is_counted {
            return Vec::new();
        }
        let took = |(at, kind): (usize, InterruptKind)| {
            // Several readings may have one stamp, that of an operation without length.
            let count = self.before[to + 1][at].saturating_sub(self.before[from][at]);
            let price_ns = prices.interrupts.get(&kind).copied().unwrap_or(0);
            (kind, count as f64 * price_ns as f64)
        };
        let took: Vec<(InterruptKind, f64)> =
            InterruptKind::ALL.into_iter().enumerate().map(took).collect();
        let all_ns: f64 = took.iter().map(|(_, ns)| ns).sum();
        let longer_ns = self.longer.sum(readings[first].at_ns, last.at_ns) as f64;
        if all_ns < longer_ns * MOST || all_ns == 0.0 {
            return Vec::new();
        }
        // Never more than there is.
        let share = left_ns / all_ns.max(longer_ns);
        let took = took.into_iter();
        took.map(|(kind, ns)| (kind, ns * share)).collect()
    }
}
