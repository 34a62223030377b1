//! Interrupts that are counted at an interval, and not recorded one by one.

use super::Prices;
use super::path::Path;
use crate::trace::row::Reading;
use crate::trace::{InterruptKind, Row, Trace};

/// What the kernel counted, and the time that operations ran longer than usual.
pub(super) struct Counted<'t> {
    readings: &'t [Reading],
    /// By operation, in ns.
    longer_ns: Vec<f64>,
}

impl<'t> Counted<'t> {
    /// Nothing where the interrupts themselves are recorded.
    pub(super) fn of(trace: &Trace, row: &'t Row, longer_ns: Vec<f64>) -> Counted<'t> {
        let is_recorded = trace.cpus.iter().any(|cpu| !cpu.interrupts.is_empty());
        let watch = row.watch.as_ref().filter(|_| !is_recorded);
        Counted { readings: watch.map_or(&[], |watch| &watch.readings), longer_ns }
    }

    /// What interrupts took of the time that an operation ran longer: their share in all that
    /// operations ran longer between the readings around it. Nothing where they explain less than
    /// most of that, since then another cause is at work, or has their place: the price of one
    /// interrupt leaves out what it costs the program afterwards, a fifth of all in a storm.
    pub(super) fn interrupts(
        &self,
        row: &Row,
        number: usize,
        path: &Path,
        left_ns: f64,
        prices: &Prices<'_>,
    ) -> Vec<(InterruptKind, f64)> {
        const MOST: f64 = 0.65;
        let operation = row.operations[number];
        let from = self.readings.partition_point(|r| r.at_ns <= operation.from_ns);
        let to = self.readings.partition_point(|r| r.at_ns < operation.to_ns);
        let (Some(before), Some(last)) = (from.checked_sub(1), self.readings.get(to)) else {
            return Vec::new();
        };
        // Several readings may have one stamp, that of an operation without length.
        let Some(readings) = self.readings.get(from..=to).filter(|_| path.is_counted) else {
            return Vec::new();
        };
        let first_ns = self.readings[before].at_ns;
        let around = row.operations.iter().zip(&self.longer_ns);
        let around = around.filter(|(o, _)| o.to_ns > first_ns && o.from_ns < last.at_ns);
        let longer_ns: f64 = around.map(|(_, ns)| ns).sum();
        let took = |(at, kind): (usize, InterruptKind)| {
            let count: u64 = readings.iter().map(|r| u64::from(r.interrupts[at])).sum();
            let price_ns = prices.interrupts.get(&kind).copied().unwrap_or(0);
            (kind, count as f64 * price_ns as f64)
        };
        let took: Vec<(InterruptKind, f64)> =
            InterruptKind::ALL.into_iter().enumerate().map(took).collect();
        let all_ns: f64 = took.iter().map(|(_, ns)| ns).sum();
        if all_ns < longer_ns * MOST || all_ns == 0.0 {
            return Vec::new();
        }
        // Never more than there is.
        let share = left_ns / all_ns.max(longer_ns);
        let took = took.into_iter();
        took.map(|(kind, ns)| (kind, ns * share)).collect()
    }
}
