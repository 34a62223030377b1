//! One bracket of the clock, with the evidence of what the machine did then.

use serde::{Deserialize, Serialize};

/// What the canaries read at both ends of a sample, all as ratios in per mille,
/// and what its visit began with.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canaries {
    /// Taken-branch loop over dependent-add chain, before and after.
    pub branch_permille: [u32; 2],
    /// A load of a chase through 5/6 of L1 over one of a chase through 4 KiB,
    /// before and after; absent where there was no memory for the chases.
    pub capacity_permille: Option<[u32; 2]>,
    /// Dependent multiplications over dependent adds, once a visit.
    pub multiply_permille: u32,
    /// A load of the chase through 4 KiB, ps, once a visit; 0 where there is
    /// none.
    pub l1_load_ps: u32,
}

/// What is known about the stretch in which a sample was taken. Everything is
/// recorded, nothing judged: the judging is [`crate::gate::Gate`]'s.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(default)]
pub struct Evidence {
    /// What the canaries read; absent where the row has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canaries: Option<Canaries>,
    /// All that documents before schema 5 have of them: the worse of the two
    /// ratios of taken branches to dependent adds, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canary_percent: Option<u16>,
    /// Mean of the two canaries' time of one dependent add, which is one clock
    /// cycle: femtoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle_fs: Option<u32>,
    /// The worse of the two last-level canaries: picoseconds a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_level_ps: Option<u32>,
    /// Time in which the thread was ready to run and was not running, in ns. For
    /// a gated sample: its share of what the visit lost, by duration. Of stamped
    /// operations: of all their threads together over the whole visit, on its first sample.
    pub lost_ns: u64,
    /// Marks, see [`flag`].
    pub flags: u8,
    /// Which of its cell's modes the operation ran in (same CPU, another
    /// one): a place in [`crate::run::Cell::modes`]; 0 where there are none.
    pub mode: u8,
}

/// Marks of a sample.
pub mod flag {
    /// Taken in an extra visit that waited for a quiet machine: counts for
    /// the quiet figure, never for the typical one.
    pub const WAITED_FOR_QUIET: u8 = 1;
    /// The two canaries' clock cycles differ by more than 5 %: the frequency
    /// moved during the sample.
    pub const CLOCK_MOVED: u8 = 2;
    /// The counter ran backwards or stood still.
    pub const COUNTER_BROKEN: u8 = 4;
    /// The thread was on another CPU afterwards (of a gated sample: after the
    /// visit).
    pub const MIGRATED: u8 = 8;
    /// The control group's CPU quota stopped the thread.
    pub const THROTTLED: u8 = 16;
    /// A page fault happened inside the sample where none belongs.
    pub const FAULTED: u8 = 32;
    /// What the kernel counted during the visit contradicts the method:
    /// threads that should have slept did not, or more often than they
    /// should; a disk was read where the page cache should have answered.
    pub const CONTRADICTED: u8 = 64;
}

/// One sample: `turns` turns of a loop, once (plain) or of the loop unrolled
/// U and then 2U times (paired); or a stamped operation, with the two stamps
/// in the place of the two loops' times, both counted from its beginning.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Which worker process took it.
    pub worker: u32,
    /// When, in ms since the run began.
    pub at_ms: u32,
    /// Turns of the loop.
    pub turns: u64,
    /// Ticks of the U loop, or of the plain loop; or the first stamp.
    pub first_ticks: u64,
    /// Ticks of the 2U loop, where the row is measured as a difference; or the
    /// second stamp, which may be the earlier one.
    pub second_ticks: Option<u64>,
    /// What happened during it.
    pub evidence: Evidence,
}

impl Sample {
    /// Ticks that belong to `turns` turns of work: the whole of a plain
    /// sample, the difference of a paired one (which noise can make negative:
    /// it is kept so).
    pub fn work_ticks(&self) -> f64 {
        match self.second_ticks {
            None => self.first_ticks as f64,
            Some(second) => second as f64 - self.first_ticks as f64,
        }
    }

    /// Nanoseconds of one operation.
    pub fn ns_per_op(&self, ops_per_turn: f64, ns_per_tick: f64) -> f64 {
        self.work_ticks() * ns_per_tick / (self.turns as f64 * ops_per_turn)
    }

    /// Time of one clock cycle during the sample, in ns.
    pub fn cycle_ns(&self) -> Option<f64> {
        self.evidence.cycle_fs.map(|fs| f64::from(fs) * 1e-6)
    }

    /// Whether the sample carries this mark.
    pub fn has(&self, mark: u8) -> bool {
        self.evidence.flags & mark != 0
    }
}

/// Those that did not wait for a quiet machine.
pub(crate) fn ordinary(samples: &[Sample]) -> impl Iterator<Item = &Sample> {
    samples.iter().filter(|s| !s.has(flag::WAITED_FOR_QUIET))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_may_be_negative() {
        let sample =
            Sample { turns: 10, first_ticks: 120, second_ticks: Some(100), ..Sample::default() };
        assert_eq!(sample.ns_per_op(16.0, 0.5), -0.0625);
    }
}
