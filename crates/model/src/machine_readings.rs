//! What the samples of a run say of the machine: the quiet ratio of the
//! canaries, the core's clock. Both can be renewed while a run goes on from
//! what is new, and are the same as from all samples at once.

use crate::core_clock::CoreClock;
use crate::gate::{
    Gate, GateReason, GateState, LEAST_VISITS, Learned, QUIET_BAND, QUIET_RATIOS, SampleEnd,
    capacity_is_quiet, ends, is_whole, share_of, within,
};
use crate::sample::{Sample, flag};
use crate::stats::{self, Interval};
use std::collections::BTreeSet;

/// A ratio is the quiet one where this share of the readings around it lies on
/// it (45 of 46 kept runs: 0.81 to 0.97; a contended one 0.40).
const LEAST_PEAK: f64 = 0.65;
/// Readings on it, at least.
const LEAST_READINGS: usize = 12;
/// Stretches of a run that the interval of its core clock is over.
const CLOCK_STRETCHES: u32 = 10;

/// Readings of the canaries in the samples of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineReadings {
    /// Clock cycles of all samples, ns, ascending.
    cycles: Vec<f64>,
    /// Last-level canaries, ns a load, ascending.
    last_level: Vec<f64>,
    /// Both ends of each ordinary sample.
    ends: Vec<SampleEnd>,
    /// Ordinary visits: worker, time, L1 load, multiplications over adds.
    visits: BTreeSet<(u32, u32, u32, u32)>,
    /// Clock cycles of ordinary samples that lost no time, with their time.
    clock: Vec<(u32, f64)>,
}

impl MachineReadings {
    /// Those of all these samples.
    pub fn from_samples<'s>(samples: impl IntoIterator<Item = &'s Sample>) -> MachineReadings {
        let mut readings = MachineReadings::default();
        readings.add_samples(samples);
        readings
    }

    /// Adds those of more samples.
    pub fn add_samples<'s>(&mut self, samples: impl IntoIterator<Item = &'s Sample>) {
        for sample in samples {
            let evidence = &sample.evidence;
            self.cycles.extend(sample.cycle_ns());
            let last_level_ps = evidence.last_level_ps;
            self.last_level.extend(last_level_ps.map(|ps| f64::from(ps) / 1000.0));
            if sample.has(flag::WAITED_FOR_QUIET) {
                continue;
            }
            self.ends.extend(ends(sample));
            self.visits.extend(evidence.canaries.map(|canaries| {
                let (load_ps, permille) = (canaries.l1_load_ps, canaries.multiply_permille);
                (sample.worker, sample.at_ms, load_ps, permille)
            }));
            if evidence.lost_ns == 0 {
                self.clock.extend(sample.cycle_ns().map(|cycle| (sample.at_ms, cycle)));
            }
        }
        self.cycles.sort_by(f64::total_cmp);
        self.last_level.sort_by(f64::total_cmp);
    }

    /// Multiplications over adds, median over ordinary visits, where there are
    /// enough: of extra ones only those that found the core quiet have samples.
    fn multiply_ratio(&self) -> Option<f64> {
        let enough = self.visits.len() >= LEAST_VISITS;
        stats::median(self.visits.iter().map(|v| f64::from(v.3) / 1000.0)).filter(|_| enough)
    }

    /// Thresholds from these readings, and from the quiet ratio that kept runs
    /// of this machine had.
    pub fn gate(&self, kept_ratio: Option<f64>) -> Gate {
        let ratios: Vec<f64> = self.ends.iter().map(|end| end.ratio).collect();
        let multiply_ratio = self.multiply_ratio();
        let (quiet_ratio, learned) = quiet_ratio(&self.ends, &ratios, multiply_ratio, kept_ratio);
        let mut gate = Gate {
            quiet_ratio,
            learned,
            state: GateState::Usable,
            readings: self.ends.len() as u32,
            peak_share: quiet_ratio.map(|quiet| peak(&ratios, quiet).1),
            branch_quiet_share: None,
            capacity_quiet_share: share_of(&self.ends, |end| {
                end.capacity.is_some_and(capacity_is_quiet)
            })
            .filter(|_| self.ends.iter().any(|end| end.capacity.is_some())),
            quiet_share: None,
            multiply_ratio,
            branch_ratio: stats::median(ratios),
            reason: String::new(),
            fastest_cycle_ns: stats::quantile_sorted(&self.cycles, 0.01),
            quiet_last_level_ns: low_mode(&self.last_level),
        };
        gate.branch_quiet_share = share_of(&self.ends, |end| gate.branch_is_quiet(end));
        gate.quiet_share = share_of(&self.ends, |end| gate.end_is_quiet(end));
        gate.state = gate.judged(&self.ends);
        gate.reason = GateReason(&gate).to_string();
        gate
    }

    /// The core's clock, from the canaries of all ordinary samples.
    ///
    /// The interval is over stretches of the run, not over workers: all workers
    /// see the same clock at the same time, and it wanders over seconds. Not known where these disagree so much that
    /// the interval has no positive end, as where other processes had the CPU for most of the run.
    pub fn core_clock(&self) -> Option<CoreClock> {
        let end = self.clock.iter().map(|&(at, _)| at).max()? + 1;
        let sorted = stats::sorted(self.clock.iter().map(|&(_, cycle)| cycle));
        let bound = |k: u32| u64::from(end) * u64::from(k) / u64::from(CLOCK_STRETCHES);
        let stretch_medians: Vec<f64> = (0..CLOCK_STRETCHES)
            .filter_map(|k| {
                let inside = |at: u32| (bound(k)..bound(k + 1)).contains(&u64::from(at));
                let of_stretch = self.clock.iter().filter(|&&(at, _)| inside(at));
                stats::median(of_stretch.map(|&(_, cycle)| cycle))
            })
            .collect();
        let half = stats::t_interval(&stretch_medians).map_or(0.0, |i| i.half_width());
        // Each stretch counts alike, however many canaries fell into it.
        let value = stats::median(stretch_medians).filter(|value| value - half > 0.0)?;
        Some(CoreClock {
            cycle_ns: Interval { value, low: value - half, high: value + half },
            p10_ns: stats::quantile_sorted(&sorted, 0.1)?,
            p90_ns: stats::quantile_sorted(&sorted, 0.9)?,
            shortest_ns: stats::quantile_sorted(&sorted, 0.01)?,
            longest_ns: stats::quantile_sorted(&sorted, 0.99)?,
            readings: sorted.len() as u32,
            between_runs: None,
        })
    }
}

/// Readings on a ratio, and their share of those around it.
fn peak(ratios: &[f64], quiet: f64) -> (usize, f64) {
    let count = |from: f64, to: f64| {
        let inside = |ratio: &&f64| within(**ratio / quiet, (from, to));
        ratios.iter().filter(inside).count()
    };
    let (on, around) = (count(0.99, 1.02), count(0.96, 1.05));
    (on, on as f64 / around.max(1) as f64)
}

/// The quiet ratio, by arithmetic: the lowest of the whole ones that the
/// readings have their peak on. Two cycles a branch is what a shared front end
/// reads too, so the others must say that it was quiet, or kept runs.
fn quiet_ratio(
    readings: &[SampleEnd],
    ratios: &[f64],
    multiply_ratio: Option<f64>,
    kept: Option<f64>,
) -> (Option<f64>, Learned) {
    let least = LEAST_READINGS.max(ratios.len() / 100);
    let others_agree = |quiet: f64| {
        let on: Vec<&SampleEnd> =
            readings.iter().filter(|r| within(r.ratio / quiet, QUIET_BAND)).collect();
        multiply_ratio.is_some_and(is_whole)
            && share_of(&on, |r| r.capacity.is_some_and(capacity_is_quiet))
                .is_some_and(|share| share >= 0.5)
    };
    let of_run = QUIET_RATIOS.into_iter().find(|&quiet| {
        let (on, share) = peak(ratios, quiet);
        on >= least
            && share >= LEAST_PEAK
            && (quiet < 2.0 || kept == Some(quiet) || others_agree(quiet))
    });
    match (of_run, kept) {
        (Some(own), kept) if kept.is_none_or(|kept| own <= kept) => (Some(own), Learned::FromRun),
        (_, Some(kept)) => (Some(kept), Learned::FromKeptRuns),
        (_, None) => (None, Learned::Unknown),
    }
}

/// The low mode of sorted readings: the densest stretch, 10 % wide, that
/// holds at least a twentieth of the readings, taking the lowest such one.
/// A plain minimum would follow the odd reading that came out too low.
fn low_mode(sorted: &[f64]) -> Option<f64> {
    let needed = (sorted.len() / 20).max(1);
    let mut end = 0;
    for start in 0..sorted.len() {
        while end < sorted.len() && sorted[end] <= sorted[start] * 1.1 {
            end += 1;
        }
        if end - start >= needed {
            return stats::quantile_sorted(&sorted[start..end], 0.5);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Canaries, Evidence};
    use proptest::prelude::*;

    prop_compose! {
        fn any_sample()(
            worker in 0_u32..8, at_ms in 0_u32..60_000,
            branch in proptest::array::uniform2(980_u32..1100),
            capacity in proptest::option::of(proptest::array::uniform2(950_u32..1900)),
            multiply_permille in 2900_u32..3010, l1_load_ps in 1300_u32..1400,
            gated in any::<bool>(), last_level in proptest::option::of(9_000_u32..40_000),
            cycle_fs in proptest::option::of(200_000_u32..600_000),
            lost_ns in prop_oneof![Just(0_u64), 1_u64..1_000_000],
            flags in prop_oneof![Just(0), Just(flag::WAITED_FOR_QUIET), Just(flag::CLOCK_MOVED)],
        ) -> Sample {
            Sample {
                worker,
                at_ms,
                turns: 1,
                first_ticks: 1,
                second_ticks: None,
                evidence: Evidence {
                    canaries: gated.then_some(Canaries {
                        branch_permille: branch,
                        capacity_permille: capacity,
                        multiply_permille,
                        l1_load_ps,
                    }),
                    cycle_fs,
                    last_level_ps: last_level,
                    lost_ns,
                    flags,
                    ..Evidence::default()
                },
            }
        }
    }

    fn sample_with_cycle(at_ms: u32, cycle_fs: u32) -> Sample {
        let canaries = Canaries {
            branch_permille: [1000; 2],
            capacity_permille: None,
            multiply_permille: 3000,
            l1_load_ps: 1350,
        };
        Sample {
            worker: 0,
            at_ms,
            turns: 1,
            first_ticks: 1,
            second_ticks: None,
            evidence: Evidence {
                canaries: Some(canaries),
                cycle_fs: Some(cycle_fs),
                ..Evidence::default()
            },
        }
    }

    #[test]
    fn a_clock_whose_interval_has_no_positive_end_is_not_known() {
        let clock_of = |second_half_fs: u32| {
            let cycles = [300_000, second_half_fs];
            let samples = [0, 1000].iter().zip(cycles).map(|(&at, fs)| sample_with_cycle(at, fs));
            MachineReadings::from_samples(&samples.collect::<Vec<_>>()).core_clock()
        };
        let alike = clock_of(300_100).expect("of two stretches that agree");
        assert!(alike.cycle_ns.low > 0.29 && alike.cycle_ns.high < 0.31, "{alike:?}");
        assert_eq!(clock_of(600_000), None);
    }

    proptest! {
        #[test]
        fn renewed_from_what_is_new_they_are_those_of_all_samples(
            samples in proptest::collection::vec(any_sample(), 0..120),
            visits in proptest::collection::vec(1_usize..20, 12),
            kept in prop_oneof![Just(None), Just(Some(1.0))],
        ) {
            let mut renewed = MachineReadings::default();
            let mut rest = &samples[..];
            for visit in visits {
                let (new, later) = rest.split_at(visit.min(rest.len()));
                renewed.add_samples(new);
                // Looking between visits changes nothing.
                let _ = (renewed.gate(kept), renewed.core_clock());
                rest = later;
            }
            renewed.add_samples(rest);
            let whole = MachineReadings::from_samples(&samples);
            prop_assert_eq!(renewed.gate(kept), whole.gate(kept));
            prop_assert_eq!(renewed.core_clock(), whole.core_clock());
            prop_assert_eq!(renewed, whole);
        }
    }
}
