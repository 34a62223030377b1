//! Clocks of a file: moments at which several were read.

use crate::perfetto::field::clocks;
use crate::protobuf::{FieldValue, Fields};
use std::collections::{HashMap, HashSet};

/// Clocks from here on are of a sequence of packets.
const FIRST_OF_SEQUENCE: u64 = 64;
/// And from here on of all again.
const FIRST_CUSTOM: u64 = 128;
/// Snapshots that are kept: each takes a few numbers.
const MOST: usize = 1 << 20;

/// A clock: the sequence it is of, 0 of all others, and its number.
type ClockId = (u32, u64);

#[derive(Clone, Copy, Debug, Default)]
struct Counting {
    /// Stamps are the time since that before.
    is_incremental: bool,
    unit_ns: u64,
    last: u64,
}

/// What is known of all clocks.
#[derive(Clone, Debug, Default)]
pub(super) struct ClockTable {
    /// Clocks at one moment, in ns.
    snapshots: Vec<Vec<(ClockId, u64)>>,
    /// Where each clock was read: its time, and the snapshot, in the order of its times.
    readings: HashMap<ClockId, Vec<(u64, usize)>>,
    /// Clocks that a snapshot has together.
    pairs: HashSet<(ClockId, ClockId)>,
    counting: HashMap<ClockId, Counting>,
}

fn clock_id(sequence: u32, clock: u64) -> ClockId {
    match (FIRST_OF_SEQUENCE..FIRST_CUSTOM).contains(&clock) {
        true => (sequence, clock),
        false => (0, clock),
    }
}

impl ClockTable {
    pub(super) fn add_snapshot(&mut self, sequence: u32, bytes: &[u8]) {
        let mut all = Vec::new();
        for (_, value) in Fields(bytes).filter(|(field, _)| *field == clocks::CLOCK) {
            let field = |field| Fields(value.bytes()).last(field).map(FieldValue::number);
            let (Some(clock), Some(at)) = (field(clocks::ID), field(clocks::TIMESTAMP)) else {
                continue;
            };
            let id = clock_id(sequence, clock);
            let unit_ns = field(clocks::UNIT_NS).unwrap_or(1).max(1);
            let is_incremental = field(clocks::INCREMENTAL) == Some(1);
            if is_incremental || unit_ns > 1 {
                self.counting.insert(id, Counting { is_incremental, unit_ns, last: at });
            }
            all.push((id, at.saturating_mul(unit_ns)));
        }
        if self.snapshots.len() >= MOST {
            return;
        }
        for &(id, at) in &all {
            let readings = self.readings.entry(id).or_default();
            let place = readings.partition_point(|&(before, _)| before <= at);
            readings.insert(place, (at, self.snapshots.len()));
            self.pairs.extend(all.iter().map(|&(other, _)| (id, other)));
        }
        self.snapshots.push(all);
    }

    /// A stamp of a clock in ns, where it is counted in other units or since the one before.
    pub(super) fn absolute(&mut self, sequence: u32, clock: u64, at: u64) -> Option<u64> {
        let Some(counting) = self.counting.get_mut(&clock_id(sequence, clock)) else {
            return Some(at);
        };
        let at = match counting.is_incremental {
            true => counting.last.checked_add(at)?,
            false => at,
        };
        counting.last = at;
        at.checked_mul(counting.unit_ns)
    }

    /// A time of a clock on another one; `None` where no snapshot has both, or each with a third.
    pub(super) fn convert(&self, sequence: u32, from: u64, at: u64, to: u64) -> Option<u64> {
        self.convert_until(sequence, from, at, to).map(|(at, _)| at)
    }

    /// The same, and until when later times differ from it as they do on their own clock.
    pub(super) fn convert_until(
        &self,
        sequence: u32,
        from: u64,
        at: u64,
        to: u64,
    ) -> Option<(u64, u64)> {
        let (from, to) = (clock_id(sequence, from), clock_id(sequence, to));
        self.directly(from, at, to).or_else(|| {
            let all = self.readings.get(&from)?.iter();
            let mut others = all.flat_map(|&(_, place)| &self.snapshots[place]);
            let (other, _) = others.find(|(other, _)| self.pairs.contains(&(*other, to)))?;
            let (of_other, _) = self.directly(from, at, *other)?;
            self.directly(*other, of_other, to).map(|(of_to, _)| (of_to, at))
        })
    }

    /// By the last snapshot before, else by the first one.
    fn directly(&self, from: ClockId, at: u64, to: ClockId) -> Option<(u64, u64)> {
        if from == to {
            return Some((at, u64::MAX));
        }
        if !self.pairs.contains(&(from, to)) {
            return None;
        }
        let readings = self.readings.get(&from)?;
        let (before, after) = readings.split_at(readings.partition_point(|&(of, _)| of <= at));
        let both = before.iter().rev().chain(after).find_map(|&(of_from, place)| {
            let mut all = self.snapshots[place].iter();
            Some((of_from, all.find(|(of, _)| *of == to)?.1))
        });
        let (of_from, of_to) = both?;
        let until = after.first().map_or(u64::MAX, |&(of, _)| of);
        let at = u64::try_from(i128::from(at) - i128::from(of_from) + i128::from(of_to)).ok()?;
        Some((at, until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf::Message;

    fn snapshot(all: &[(u64, u64)], counting: Option<(u64, u64)>) -> Message {
        let mut snapshot = Message::default();
        for &(id, at) in all {
            let mut clock = Message::default();
            clock.number(clocks::ID, id).number(clocks::TIMESTAMP, at);
            if let Some((_, unit_ns)) = counting.filter(|(of, _)| *of == id) {
                clock.number(clocks::INCREMENTAL, 1).number(clocks::UNIT_NS, unit_ns);
            }
            snapshot.message(clocks::CLOCK, &clock);
        }
        snapshot
    }

    #[test]
    fn clocks_meet_in_the_last_snapshot_before() {
        let mut table = ClockTable::default();
        assert_eq!(table.convert(1, 6, 100, 5), None);
        assert_eq!(table.convert(1, 6, 100, 6), Some(100));
        table.add_snapshot(1, snapshot(&[(6, 1_000), (5, 400)], None).bytes());
        table.add_snapshot(1, snapshot(&[(6, 2_000), (5, 1_390)], None).bytes());
        let all = [900, 1_000, 1_999, 2_000, 3_000].map(|at| table.convert(1, 6, at, 5));
        assert_eq!(all, [Some(300), Some(400), Some(1_399), Some(1_390), Some(2_390)]);
        // Before the beginning of the other one.
        assert_eq!(table.convert(1, 6, 500, 5), None);
        // By way of a third.
        table.add_snapshot(1, snapshot(&[(5, 400), (1, 9_000)], None).bytes());
        assert_eq!(table.convert(1, 6, 1_100, 1), Some(9_100));
        assert_eq!(table.convert(1, 3, 1_100, 1), None);
        // Of two clocks, one began far before the other.
        let mut table = ClockTable::default();
        table.add_snapshot(1, snapshot(&[(6, 0), (5, 9_000)], None).bytes());
        table.add_snapshot(1, snapshot(&[(5, 9_000), (1, 70)], None).bytes());
        assert_eq!(table.convert(1, 1, 80, 6), Some(10));
    }

    #[test]
    fn a_clock_of_a_sequence_counts_since_the_stamp_before() {
        let mut table = ClockTable::default();
        table.add_snapshot(3, snapshot(&[(6, 5_000), (64, 2)], Some((64, 1_000))).bytes());
        let at = |table: &mut ClockTable, delta| {
            let at = table.absolute(3, 64, delta).expect("counted");
            table.convert(3, 64, at, 6)
        };
        assert_eq!(at(&mut table, 1), Some(6_000));
        assert_eq!(at(&mut table, 4), Some(10_000));
        // Another sequence has its own.
        assert_eq!(table.convert(4, 64, 3_000, 6), None);
    }
}
