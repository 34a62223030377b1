//! The causes of a detour, from what the system counted.
//!
//! Run delay is exact for each detour. Interrupts are counted between
//! readings. A detour with its own reading and without run delay belongs to the
//! interrupts counted, or is unexplained if there were none; with run delay,
//! the rest is unknown if any were counted, since those of the other thread are
//! among them. If several detours share a reading, those much shorter than any
//! known detour with an interrupt are unexplained; of the others there must be
//! no more than interrupts, or their cause is unknown.

use super::machine::InterruptsSinceBoot;
use super::observe::{Observations, SlowBlock};
use model::noise::osnoise::{Cause, CauseTime};

/// Detours with an interrupt from which the length of such detours is learned.
const ENOUGH: usize = 20;

/// Of these the length that one in twenty is below (some are too short by
/// chance: the interrupt came just after the detour), over this much, is the
/// shortest that may hold an interrupt. And a detour that is this many times as
/// long as all others of its reading is the one that held the interrupt.
const MARGIN: u64 = 2;

/// The lengths of detours that hold interrupts, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    sorted: Vec<u64>,
}

impl Lengths {
    /// Another detour that holds interrupts and nothing else, ticks.
    pub fn add_detour(&mut self, lost: u64) {
        let place = self.sorted.partition_point(|&known| known < lost);
        self.sorted.insert(place, lost);
    }

    /// A detour shorter than this holds no interrupt, ticks; 0 as long as too
    /// little is known.
    pub fn least(&self) -> u64 {
        match self.sorted.len() {
            0..ENOUGH => 0,
            n => self.sorted[n / ENOUGH] / MARGIN,
        }
    }

    /// Learns from the detours that share a reading: the only one, or of one
    /// interrupt the detour that is by far the longest.
    pub fn learn(&mut self, group: &[SlowBlock], counts: Option<InterruptsSinceBoot>) {
        let interrupts = counts.map_or(0, |counts| counts.timer + counts.other);
        if interrupts == 0 || group.iter().any(|r| r.run_delay_ns != Some(0)) {
            return;
        }
        let mut lost: Vec<u64> = group.iter().map(|r| r.lost).collect();
        lost.sort_unstable();
        match *lost.as_slice() {
            [only] => self.add_detour(only),
            [.., second, longest] if interrupts == 1 && longest >= MARGIN * second => {
                self.add_detour(longest);
            }
            _ => {}
        }
    }

    /// All that a span taught.
    pub fn from_observations(observed: &Observations) -> Lengths {
        let mut lengths = Lengths::default();
        for group in observed.records.chunk_by(|a, b| a.group == b.group) {
            lengths.learn(group, observed.groups.get(group[0].group).copied().flatten());
        }
        lengths
    }
}

/// The causes of each record, the longest first; they add up to the detour.
/// Causes of no time are left out. `ns_per_tick` turns ticks into time.
pub fn causes(observed: &Observations, ns_per_tick: f64) -> Vec<Vec<CauseTime>> {
    let least = Lengths::from_observations(observed).least();
    let groups = observed.records.chunk_by(|a, b| a.group == b.group);
    groups
        .flat_map(|records| {
            let group = DetourGroup {
                counts: observed.groups.get(records[0].group).copied().flatten(),
                detours: records.len(),
                long: records.iter().filter(|r| r.lost >= least).count() as u64,
                switched: records.iter().any(SlowBlock::is_switch),
            };
            records.iter().map(move |record| split(record, group.cause(record, least), ns_per_tick))
        })
        .collect()
}

/// Detours that share a reading of the interrupts.
#[derive(Clone, Copy)]
struct DetourGroup {
    counts: Option<InterruptsSinceBoot>,
    detours: usize,
    /// Detours long enough for an interrupt.
    long: u64,
    /// Another thread ran in one of them.
    switched: bool,
}

impl DetourGroup {
    /// What took the CPU in a detour, run delay aside.
    fn cause(&self, record: &SlowBlock, least: u64) -> Cause {
        let (Some(_), Some(counts)) = (record.run_delay_ns, self.counts) else {
            return Cause::Unknown;
        };
        let of_counts = match (counts.timer, counts.other) {
            (0, 0) => Cause::Unexplained,
            (_, 0) => Cause::Tick,
            (0, _) => Cause::Interrupts,
            _ => Cause::TickAndInterrupts,
        };
        let interrupts = counts.timer + counts.other;
        match record {
            _ if interrupts == 0 => Cause::Unexplained,
            // Interrupts of the other thread are counted too, and their time is
            // part of the run delay.
            record if record.is_switch() => Cause::Unknown,
            _ if self.detours == 1 => of_counts,
            // Interrupts, and no detour that is long enough for them.
            _ if self.long == 0 => Cause::Unknown,
            record if record.lost < least => Cause::Unexplained,
            // Some are unexplained, but which is unknown. After a switch the
            // counts include interrupts of the other thread.
            _ if interrupts < self.long || (self.switched && self.long > 1) => Cause::Unknown,
            _ => of_counts,
        }
    }
}

fn split(record: &SlowBlock, cause: Cause, ns_per_tick: f64) -> Vec<CauseTime> {
    let lost_ns = (record.lost as f64 * ns_per_tick).round() as u64;
    // Run delay beyond the detour fell into a reading, and counts there.
    let scheduler_ns = record.run_delay_ns.unwrap_or(0).min(lost_ns);
    let mut parts = vec![
        CauseTime { cause: Cause::Scheduler, lost_ns: scheduler_ns },
        CauseTime { cause, lost_ns: lost_ns - scheduler_ns },
    ];
    parts.retain(|part| part.lost_ns > 0);
    parts.sort_by_key(|part| std::cmp::Reverse(part.lost_ns));
    parts
}
