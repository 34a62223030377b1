//! What a gap consists of, by what the system counted.
//!
//! The run delay is exact and every gap has its own. Interrupts are counted
//! between readings. A gap with a reading of its own is known: without run
//! delay its time went to the interrupts that were counted, or to nothing that
//! the system knows; with run delay the rest is told only where none was
//! counted, since the other thread's are counted too. Where several gaps share a reading, those much shorter
//! than any gap that was seen to hold an interrupt are not the interrupts';
//! of the others there must be no more than interrupts, or nothing is told.

use super::machine::Counts;
use super::seen::{Record, Seen};
use model::noise::gaps::{Cause, Part};

/// Gaps with an interrupt from which the length of such gaps is learnt.
const ENOUGH: usize = 20;

/// Of these the length that one in twenty is below (some are too short by
/// chance: the interrupt came just after the gap), over this much, is the
/// shortest that may hold an interrupt. And a gap that is this many times as
/// long as all others of its reading is the one that held the interrupt.
const MARGIN: u64 = 2;

/// The lengths of gaps that hold interrupts, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    sorted: Vec<u64>,
}

impl Lengths {
    /// Another gap that holds interrupts and nothing else, ticks.
    pub fn add(&mut self, lost: u64) {
        let place = self.sorted.partition_point(|&known| known < lost);
        self.sorted.insert(place, lost);
    }

    /// A gap shorter than this holds no interrupt, ticks; 0 as long as too
    /// little is known.
    pub fn least(&self) -> u64 {
        match self.sorted.len() {
            0..ENOUGH => 0,
            n => self.sorted[n / ENOUGH] / MARGIN,
        }
    }

    /// Learns from the gaps that share a reading: the only one, or of one
    /// interrupt the gap that is by far the longest.
    pub fn learn(&mut self, group: &[Record], counts: Option<Counts>) {
        let interrupts = counts.map_or(0, |counts| counts.timer + counts.other);
        if interrupts == 0 || group.iter().any(|r| r.run_delay_ns != Some(0)) {
            return;
        }
        let mut lost: Vec<u64> = group.iter().map(|r| r.lost).collect();
        lost.sort_unstable();
        match *lost.as_slice() {
            [only] => self.add(only),
            [.., second, longest] if interrupts == 1 && longest >= MARGIN * second => {
                self.add(longest);
            }
            _ => {}
        }
    }

    /// All that a span taught.
    pub fn of(seen: &Seen) -> Lengths {
        let mut lengths = Lengths::default();
        for group in seen.records.chunk_by(|a, b| a.group == b.group) {
            lengths.learn(group, seen.groups.get(group[0].group).copied().flatten());
        }
        lengths
    }
}

/// The parts of each record, the longest first; their sum is the gap. A part
/// of nothing is left out. `ns_per_tick` turns ticks into time.
pub fn parts(seen: &Seen, ns_per_tick: f64) -> Vec<Vec<Part>> {
    let least = Lengths::of(seen).least();
    let mut parts = Vec::with_capacity(seen.records.len());
    for group in seen.records.chunk_by(|a, b| a.group == b.group) {
        let counts = seen.groups.get(group[0].group).copied().flatten();
        let long = group.iter().filter(|r| r.lost >= least).count() as u64;
        let switched = group
            .iter()
            .any(|r| r.run_delay_ns.is_some_and(|ns| ns > 0));
        for record in group {
            let cause = match (record.run_delay_ns, counts) {
                // Who can't tell a switch can't tell its interrupts from the
                // gap's.
                (None, _) | (_, None) => Cause::NotTold,
                (_, Some(counts)) if group.len() == 1 => of_counts(counts),
                (_, Some(counts)) if counts == Counts::default() => Cause::Unexplained,
                // Interrupts, and no gap that is long enough for them.
                (_, Some(_)) if long == 0 => Cause::NotTold,
                (_, Some(_)) if record.lost < least => Cause::Unexplained,
                // Fewer interrupts than gaps: some are unexplained, and nobody
                // knows which. After a switch the counts hold what interrupted
                // the others too.
                (_, Some(Counts { timer, other }))
                    if timer + other < long || (switched && long > 1) =>
                {
                    Cause::NotTold
                }
                (_, Some(counts)) => of_counts(counts),
            };
            // What came while the other thread ran is counted too, and is in the
            // run delay: beside it are the switch itself and perhaps an
            // interrupt, and nothing tells them apart.
            let switched = record.run_delay_ns.is_some_and(|ns| ns > 0);
            let cause = match (switched, counts) {
                (true, Some(counts)) if counts != Counts::default() => Cause::NotTold,
                _ => cause,
            };
            parts.push(split(record, cause, ns_per_tick));
        }
    }
    parts
}

fn of_counts(counts: Counts) -> Cause {
    match (counts.timer, counts.other) {
        (0, 0) => Cause::Unexplained,
        (_, 0) => Cause::Tick,
        (0, _) => Cause::Interrupts,
        _ => Cause::TickAndInterrupts,
    }
}

fn split(record: &Record, cause: Cause, ns_per_tick: f64) -> Vec<Part> {
    let lost_ns = (record.lost as f64 * ns_per_tick).round() as u64;
    // More run delay than gap: the rest of it fell into a reading, and is in
    // the span's total.
    let scheduler_ns = record.run_delay_ns.unwrap_or(0).min(lost_ns);
    let mut parts = vec![
        Part {
            cause: Cause::Scheduler,
            lost_ns: scheduler_ns,
        },
        Part {
            cause,
            lost_ns: lost_ns - scheduler_ns,
        },
    ];
    parts.retain(|part| part.lost_ns > 0);
    parts.sort_by_key(|part| std::cmp::Reverse(part.lost_ns));
    parts
}
