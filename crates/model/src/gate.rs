//! Was the machine quiet during a sample? The judging of the evidence, apart
//! from its taking, so that a stored run can be judged again.
//!
//! Two canaries stand at both ends of a sample. Taken branches over dependent
//! adds (b): both cost whole clock cycles, so the ratio cancels the frequency,
//! and a neighbour on the core's other hardware thread raises it. A chase
//! through 5/6 of L1 over one through 4 KiB (c): 1 on any quiet core, since
//! both only hit; a neighbour that uses memory evicts part of the larger one.
//! Once a visit, multiplications over adds (m): a whole number on a quiet core.
//! None of them sees theft of the last level, for which memory rows carry
//! another canary.

use crate::sample::{Sample, flag};
use crate::share::percent;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Shares of the quiet ratio of branches to adds between which a reading is
/// quiet: single quiet readings lie from 0.992 to 1.025 (1 and 99 % quantile),
/// and from 1.05 on a reading carries the whole slowdown.
pub(crate) const QUIET_BAND: (f64, f64) = (0.985, 1.025);
/// The same for a reading that was kept in whole percent.
const QUIET_BAND_PERCENT: (f64, f64) = (0.98, 1.025);
/// Between which a reading of L1's capacity is quiet. Readings below tell of a
/// disturbed 4 KiB chase.
const CAPACITY_BAND: (f64, f64) = (0.9, 1.15);
/// Adds that a taken branch takes on a quiet core: two branches a cycle where
/// the loop's `dec` is folded at rename, one, or one in two cycles.
pub(crate) const QUIET_RATIOS: [f64; 3] = [0.5, 1.0, 2.0];
/// Multiplications over adds, further than this from a whole number: contended.
const WHOLE_WITHIN: f64 = 0.02;
/// Visits that the median of their multiplications needs: 10 draws never gave a false alarm, and
/// missed 1 in 10,000.
pub const LEAST_VISITS: usize = 10;
/// With fewer readings of L1's capacity quiet than this share, it never was.
const NEVER: f64 = 0.01;
/// A ratio up to this much above the quiet one counted as quiet before schema 5.
const OLDER_TOLERANCE: f64 = 0.15;
/// A last-level canary up to this much above its low mode still counts as
/// quiet.
pub const LAST_LEVEL_TOLERANCE: f64 = 0.25;
/// A clock cycle this much longer than the run's fastest one tells of
/// throttling or of a stalled thread, not of ordinary frequency control.
pub const CYCLE_TOLERANCE: f64 = 0.6;

/// What the gate of a run is worth.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// A document before schema 5: ratios up to 15 % above the quiet one were
    /// quiet, and its figures are of such samples.
    #[default]
    Older,
    /// No row of the run carried a canary.
    Unused,
    /// Samples are judged by branches and L1 capacity.
    Usable,
    /// L1 capacity can't be read here; samples are judged by branches, and the
    /// multiplications say that the run was quiet.
    WithoutCapacity,
    /// The multiplications say that the core was shared most of the time.
    MostlyContended,
    /// Nothing says that the core was quiet at any time: no sample is quiet.
    NeverQuiet,
}

/// How the quiet ratio is known.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Learned {
    /// It is not; or in a way that documents before schema 5 had.
    #[default]
    Unknown,
    /// The run's readings have their peak on it.
    FromRun,
    /// From kept runs of this machine: it is lower than what this run's
    /// readings say, or they have no peak.
    FromKeptRuns,
}

/// Thresholds by which samples count as quiet, and how they are known.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gate {
    /// Dependent adds that a taken branch takes on the quiet machine; absent
    /// where it could not be derived.
    pub quiet_ratio: Option<f64>,
    /// How that is known.
    #[serde(default)]
    #[serde(rename = "learnt")]
    pub learned: Learned,
    /// What the gate is worth.
    #[serde(default)]
    pub state: GateState,
    /// Readings of the canaries in ordinary visits.
    #[serde(default)]
    pub readings: u32,
    /// Share of the readings around the quiet ratio (-4 to +5 %) that lie on it
    /// (-1 to +2 %).
    #[serde(default)]
    pub peak_share: Option<f64>,
    /// Share of the readings whose branches are quiet.
    #[serde(default)]
    pub branch_quiet_share: Option<f64>,
    /// Share of the readings whose L1 capacity is quiet.
    #[serde(default)]
    pub capacity_quiet_share: Option<f64>,
    /// Share of the readings that are quiet by both.
    #[serde(default)]
    pub quiet_share: Option<f64>,
    /// Dependent multiplications over dependent adds, median over ordinary
    /// visits: a whole number on a quiet core.
    #[serde(default)]
    pub multiply_ratio: Option<f64>,
    /// Median of a branch over an add.
    #[serde(default)]
    pub branch_ratio: Option<f64>,
    /// What a reader must know of it; empty when there is nothing to say.
    #[serde(default)]
    pub reason: String,
    /// Fastest clock cycle of the run (1 % quantile), in ns.
    pub fastest_cycle_ns: Option<f64>,
    /// Low mode of the last-level canary, in ns a load.
    pub quiet_last_level_ns: Option<f64>,
}

/// One reading of the canaries, wherever it was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CanaryReading {
    /// Taken-branch loop over dependent-add chain.
    pub ratio: f64,
    /// A load of the chase through 5/6 of L1 over one through 4 KiB.
    pub capacity: Option<f64>,
    /// Time of one dependent add, in ns.
    pub cycle_ns: f64,
}

/// What a reader must know of a gate.
pub(crate) struct GateReason<'g>(pub(crate) &'g Gate);

impl fmt::Display for GateReason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gate = self.0;
        let percent = |share: Option<f64>| percent(share.unwrap_or(0.0));
        match (gate.state, gate.multiply_ratio) {
            (GateState::Older | GateState::Unused | GateState::Usable, _) => Ok(()),
            (GateState::WithoutCapacity, _) => f.write_str(
                "L1 capacity can't be read here: neighbours are detected by taken branches and multiply/add only",
            ),
            (GateState::MostlyContended, Some(m)) if !is_whole(m) => {
                f.write_str("the core was shared during most of the run")
            }
            (_, Some(m)) if !is_whole(m) => {
                f.write_str("the core was shared during the whole run")
            }
            _ if gate.quiet_ratio.is_none() => write!(
                f,
                "no reference timings for this CPU (a taken branch takes {:.2} adds, expected 0.5, 1 or 2)",
                gate.branch_ratio.unwrap_or(f64::NAN)
            ),
            _ => write!(
                f,
                "the core was never undisturbed (L1 capacity in {} of readings, taken branches in {})",
                percent(gate.capacity_quiet_share),
                percent(gate.branch_quiet_share)
            ),
        }
    }
}

fn whole(multiply_ratio: f64) -> f64 {
    multiply_ratio.round().max(1.0)
}

pub(crate) fn is_whole(multiply_ratio: f64) -> bool {
    (multiply_ratio - whole(multiply_ratio)).abs() <= WHOLE_WITHIN
}

pub(crate) fn within(value: f64, (low, high): (f64, f64)) -> bool {
    (low..=high).contains(&value)
}

pub(crate) fn capacity_is_quiet(capacity: f64) -> bool {
    within(capacity, CAPACITY_BAND)
}

/// Whether a reading looks quiet before anything is learned: on the kept ratio,
/// or on any that a quiet core may have.
pub fn looks_quiet(reading: &CanaryReading, kept_ratio: Option<f64>) -> bool {
    let on = |ratio: &f64| within(reading.ratio / ratio, QUIET_BAND);
    kept_ratio.as_ref().map_or_else(|| QUIET_RATIOS.iter().any(on), on)
        && reading.capacity.is_none_or(capacity_is_quiet)
}

/// What the canaries of one end of a sample read; all that is known of both
/// ends in documents before schema 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampleEnd {
    pub(crate) ratio: f64,
    pub(crate) capacity: Option<f64>,
    pub(crate) in_percent: bool,
}

pub(crate) fn ends(sample: &Sample) -> Vec<SampleEnd> {
    let permille = |value: u32| f64::from(value) / 1000.0;
    match (sample.evidence.canaries, sample.evidence.canary_percent) {
        (Some(canaries), _) => (0..2)
            .map(|k| SampleEnd {
                ratio: permille(canaries.branch_permille[k]),
                capacity: canaries.capacity_permille.map(|c| permille(c[k])),
                in_percent: false,
            })
            .collect(),
        (None, Some(percent)) => {
            vec![SampleEnd { ratio: f64::from(percent) / 100.0, capacity: None, in_percent: true }]
        }
        (None, None) => Vec::new(),
    }
}

pub(crate) fn share_of<T>(of: &[T], is: impl Fn(&T) -> bool) -> Option<f64> {
    let count = of.iter().filter(|one| is(one)).count();
    (!of.is_empty()).then(|| count as f64 / of.len() as f64)
}

impl Gate {
    pub(crate) fn judged(&self, readings: &[SampleEnd]) -> GateState {
        let branches = self.branch_quiet_share.unwrap_or(0.0);
        let whole = self.multiply_is_whole();
        if readings.is_empty() {
            return GateState::Unused;
        }
        if self.quiet_ratio.is_none() {
            return GateState::NeverQuiet;
        }
        if readings.iter().all(|r| r.in_percent) {
            return GateState::Usable;
        }
        // What has no memory for the chase reads it as often as emulation does.
        let capacity = self.capacity_quiet_share.unwrap_or(0.0);
        match (capacity < NEVER, whole) {
            (true, Some(true)) if branches >= 0.5 => GateState::WithoutCapacity,
            (true, _) => GateState::NeverQuiet,
            (false, Some(false)) => self.contended(),
            (false, _) => GateState::Usable,
        }
    }

    /// Its state where the multiplications say that the core was shared.
    fn contended(&self) -> GateState {
        match self.quiet_share > Some(0.5) {
            // Most of the time, and the canaries saw nothing of it.
            true => GateState::NeverQuiet,
            false => GateState::MostlyContended,
        }
    }

    /// The same gate where no visit read multiplications over adds, as before
    /// schema 5, by those that a row of the run measured.
    #[must_use]
    pub fn confirmed_by(mut self, multiply_ratio: Option<f64>) -> Gate {
        if self.state == GateState::Usable && self.multiply_ratio.is_none() {
            self.multiply_ratio = multiply_ratio;
            if self.multiply_is_whole() == Some(false) {
                self.state = self.contended();
                self.reason = GateReason(&self).to_string();
            }
        }
        self
    }

    pub(crate) fn branch_is_quiet(&self, end: &SampleEnd) -> bool {
        let band = if end.in_percent { QUIET_BAND_PERCENT } else { QUIET_BAND };
        self.quiet_ratio.is_some_and(|quiet| within(end.ratio / quiet, band))
    }

    pub(crate) fn end_is_quiet(&self, end: &SampleEnd) -> bool {
        match self.state {
            GateState::Older => {
                let limit = self.quiet_ratio.map(|quiet| quiet * (1.0 + OLDER_TOLERANCE));
                limit.is_some_and(|limit| end.ratio <= limit)
            }
            GateState::Unused | GateState::NeverQuiet => false,
            GateState::WithoutCapacity => self.branch_is_quiet(end),
            GateState::Usable | GateState::MostlyContended => {
                let capacity = end.capacity.map_or(end.in_percent, capacity_is_quiet);
                self.branch_is_quiet(end) && capacity
            }
        }
    }

    fn cycle_is_quiet(&self, cycle_ns: f64) -> bool {
        self.fastest_cycle_ns.is_none_or(|fastest| cycle_ns <= fastest * (1.0 + CYCLE_TOLERANCE))
    }

    /// The quiet ratio, if later runs of the machine may take it from this one:
    /// derived from its own readings, with every canary at its word.
    pub fn teaches(&self) -> Option<f64> {
        let certain = self.state == GateState::Usable
            && self.learned == Learned::FromRun
            && self.multiply_is_whole() == Some(true);
        self.quiet_ratio.filter(|_| certain)
    }

    /// Whether the multiplications over adds are a whole number, as on a quiet
    /// core; `None` where too few visits read them.
    pub fn multiply_is_whole(&self) -> Option<bool> {
        self.multiply_ratio.map(is_whole)
    }

    /// Whether the multiplications take part in what the canaries say: without
    /// them these may miss a neighbour for a whole run.
    pub fn is_confirmed(&self) -> bool {
        self.state != GateState::Usable || self.multiply_ratio.is_some()
    }

    /// Whether waiting for a quiet reading can end.
    pub fn can_be_quiet(&self) -> bool {
        !matches!(self.state, GateState::Unused | GateState::NeverQuiet)
    }

    /// Whether one canary reading is that of a quiet machine.
    pub fn is_quiet_reading(&self, reading: &CanaryReading) -> bool {
        let end = SampleEnd { ratio: reading.ratio, capacity: reading.capacity, in_percent: false };
        self.end_is_quiet(&end) && self.cycle_is_quiet(reading.cycle_ns)
    }

    /// Whether the sample itself was taken on a quiet machine, whatever the rest
    /// of its visit says ([`Gate::quiet`]). A sample without a canary is never
    /// quiet: nothing vouches for it.
    pub fn is_quiet(&self, sample: &Sample) -> bool {
        let evidence = &sample.evidence;
        let broken = flag::CLOCK_MOVED
            | flag::COUNTER_BROKEN
            | flag::MIGRATED
            | flag::THROTTLED
            | flag::FAULTED
            | flag::CONTRADICTED;
        let ends = ends(sample);
        let Some(cycle_ns) = sample.cycle_ns().filter(|_| !ends.is_empty()) else {
            return false;
        };
        evidence.lost_ns == 0
            && evidence.flags & broken == 0
            && ends.iter().all(|end| self.end_is_quiet(end))
            && self.cycle_is_quiet(cycle_ns)
            && match (evidence.last_level_ps, self.quiet_last_level_ns) {
                (Some(ps), Some(quiet)) => {
                    f64::from(ps) / 1000.0 <= quiet * (1.0 + LAST_LEVEL_TOLERANCE)
                }
                _ => true,
            }
    }

    /// Of a cell's samples, visit by visit, which are quiet: those that are so
    /// themselves, in visits of which half of the readings are.
    pub fn quiet(&self, samples: &[Sample]) -> Vec<bool> {
        let visit = |s: &Sample| {
            let figures = s.evidence.canaries;
            let figures = figures.map(|c| (c.multiply_permille, c.l1_load_ps));
            (s.worker, s.at_ms, figures)
        };
        let visits = samples.chunk_by(|a, b| visit(a) == visit(b));
        visits
            .flat_map(|visit| {
                let calm = self.state == GateState::Older
                    || self.quiet_readings(visit).is_some_and(|share| share >= 0.5);
                visit.iter().map(move |s| calm && self.is_quiet(s))
            })
            .collect()
    }

    /// The samples of a cell that are quiet.
    pub fn quiet_samples<'s>(&self, samples: &'s [Sample]) -> Vec<&'s Sample> {
        let quiet = self.quiet(samples).into_iter();
        let judged = samples.iter().zip(quiet);
        judged.filter_map(|(s, quiet)| quiet.then_some(s)).collect()
    }

    /// Share of the readings at both ends of these samples that are quiet.
    pub fn quiet_readings<'s>(&self, samples: impl IntoIterator<Item = &'s Sample>) -> Option<f64> {
        let readings: Vec<SampleEnd> = samples.into_iter().flat_map(ends).collect();
        share_of(&readings, |r| self.end_is_quiet(r))
    }
}

#[cfg(test)]
mod tests;
