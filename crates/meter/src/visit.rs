//! One visit to a cell: restore its working set, then a few samples between
//! canaries, each with the evidence of what happened during it.

use crate::clock::Clock;
use crate::environment::{CoreFigures, Environment, Losses};
use crate::probe::{Event, Work, WorkError};
use model::gate::{CanaryReading, Gate};
use model::run::Regime;
use model::sample::{Canaries, Evidence, Sample, flag};

/// Length that a gated sample aims at, ns: short against the scheduler's
/// tick, so that a sample is rarely interrupted.
pub const SAMPLE_NS: f64 = 100_000.0;

/// Length that a sample of a distribution aims at, ns, where one operation is
/// shorter.
pub const LONG_SAMPLE_NS: f64 = 1_000_000.0;

/// Canaries that an extra visit runs, waiting for a quiet machine, before it
/// gives up: some 2 ms.
const PATIENCE: u32 = 300;

/// Quiet readings in a row that an extra visit waits for: in the busiest phases a
/// quiet stretch lasts 0.15 ms, and a single reading often ends one.
const QUIET_IN_A_ROW: u32 = 2;

/// Parts of a sample that run untimed: before the first sample of a visit, since
/// other rows and a system call have just had the branch predictors; and before
/// each, since the canary has had L1 (a lap of L1 takes about 2 µs).
const FIRST_PART: u64 = 4;
const EACH_PART: u64 = 32;

/// Work of fewer turns a sample has an untimed part only before the first one: one
/// turn would be most of a sample, and `ready` may have prepared what a single one
/// uses up.
const LEAST_TURNS: u64 = 8;

/// Page faults in a visit that mean nothing: buffers of the meter's own that
/// are touched for the first time.
const FEW_FAULTS: u64 = 16;

/// A frequency step above this within a sample spoils its cycle count.
const CLOCK_MOVED_ABOVE: f64 = 0.05;

/// What a visit is asked to do.
#[derive(Clone, Debug)]
pub struct VisitOrder<'a> {
    /// How the row is measured.
    pub regime: Regime,
    /// Samples wanted.
    pub samples: u32,
    /// Whether the samples carry the last-level canary.
    pub last_level_canary: bool,
    /// Wait for this machine state first (an extra visit); such samples count
    /// for the quiet figure only.
    pub wait_for_quiet: Option<&'a Gate>,
    /// Turns of a sample as found on an earlier visit.
    pub turns: Option<u64>,
    /// Which of the two loops goes first in the first sample, so that the
    /// order alternates from visit to visit too.
    pub double_first: bool,
}

/// What came of a visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Visited {
    /// The samples, `worker` and `at_ms` still 0.
    pub samples: Vec<Sample>,
    /// Turns that a sample had.
    pub turns: u64,
}

/// The samples of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Index of the variant among its probe's.
    pub variant: usize,
    /// The samples, `worker` and `at_ms` still 0.
    pub samples: Vec<Sample>,
}

/// The samples of these events, by variant.
pub fn series(events: &[Event], work: &dyn Work) -> Result<Vec<Series>, WorkError> {
    if events.is_empty() {
        return Err("no operation came to its end".into());
    }
    let flags = match work.contradiction() {
        Some(_) => flag::CONTRADICTED,
        None => 0,
    };
    let mut all: Vec<Series> = Vec::new();
    for event in events {
        let sample = of_event(event, flags);
        match all.iter_mut().find(|s| s.variant == event.series) {
            Some(series) => series.samples.push(sample),
            None => all.push(Series { variant: event.series, samples: vec![sample] }),
        }
    }
    Ok(all)
}

/// Records the run delay over a visit to stamped work, of which the calling
/// thread's is `own_ns`: on the first sample of each series whose thread was
/// watched, since a document lists each one that is not 0, and no operation is
/// known to be the one that waited.
pub fn record_run_delay(all: &mut [Series], work: &dyn Work, own_ns: u64) {
    for series in all {
        let delay_ns = work.run_delay_ns(series.variant, own_ns);
        if let Some((first, lost_ns)) = series.samples.first_mut().zip(delay_ns) {
            first.evidence.lost_ns = lost_ns;
        }
    }
}

fn of_event(event: &Event, flags: u8) -> Sample {
    Sample {
        turns: event.ops,
        first_ticks: event.from_ticks,
        second_ticks: Some(event.to_ticks),
        evidence: Evidence { flags, mode: event.mode, ..Evidence::default() },
        ..Sample::default()
    }
}

/// Makes visits with a clock and environment: real ones in a worker, scripted
/// ones in tests.
pub struct Visitor<C, S> {
    /// The clock.
    pub clock: C,
    /// Length of its tick, ns.
    pub ns_per_tick: f64,
    /// A sample must be at least this many ticks long for the clock's
    /// resolution.
    pub min_sample_ticks: u64,
    /// Canaries and evidence.
    pub environment: S,
}

impl<C: Clock, S: Environment> Visitor<C, S> {
    /// One visit.
    pub fn visit(&mut self, work: &mut dyn Work, order: &VisitOrder) -> Visited {
        let turns = match order.turns {
            Some(turns) => turns,
            None => {
                work.restore();
                self.find_turns(work, order.regime)
            }
        };
        let mut samples = match order.regime {
            Regime::Gated => self.gated(work, order, turns),
            Regime::Distribution => self.distribution(work, order, turns),
            // The work takes its own stamps: see `stamped`.
            Regime::Stamped => Vec::new(),
        };
        if work.contradiction().is_some() {
            for sample in &mut samples {
                sample.evidence.flags |= flag::CONTRADICTED;
            }
        }
        Visited { samples, turns }
    }

    /// How many turns fill a sample: doubled until the clock sees enough to
    /// tell, then in proportion.
    fn find_turns(&mut self, work: &mut dyn Work, regime: Regime) -> u64 {
        let (least, most) = work.turn_limits();
        let step = work.turn_step().max(1);
        let whole = |turns: u64| turns.clamp(least, most).div_ceil(step).saturating_mul(step);
        let goal_ns = match regime {
            // The U loop is a third of a paired sample.
            Regime::Gated if work.paired() => SAMPLE_NS / 3.0,
            Regime::Gated => SAMPLE_NS,
            Regime::Distribution | Regime::Stamped => LONG_SAMPLE_NS,
        };
        let enough_ticks =
            (goal_ns / 5.0 / self.ns_per_tick).max(self.min_sample_ticks as f64) as u64;
        let mut turns = whole(1);
        loop {
            let mut ticks = self.ticks_of(work, turns);
            if ticks >= enough_ticks && turns < most {
                // Once more: a pass that lost its CPU must not settle the
                // length of all samples to come.
                ticks = ticks.min(self.ticks_of(work, turns));
            }
            if ticks >= enough_ticks || turns >= most || turns > u64::MAX / 4 {
                let ns = (ticks as f64 * self.ns_per_tick).max(1.0);
                let least_ns = self.min_sample_ticks as f64 * self.ns_per_tick;
                let scale = (goal_ns.max(least_ns) / ns).min(1e6);
                return whole((turns as f64 * scale).round().max(1.0) as u64);
            }
            turns = whole(turns * 2);
        }
    }

    fn ticks_of(&self, work: &mut dyn Work, turns: u64) -> u64 {
        work.ready();
        let start = self.clock.start();
        work.run(turns, false);
        self.clock.stop().saturating_sub(start)
    }

    fn gated(&mut self, work: &mut dyn Work, order: &VisitOrder, turns: u64) -> Vec<Sample> {
        let figures = self.environment.core_figures();
        if let Some(gate) = order.wait_for_quiet
            && !self.wait_for(gate)
        {
            return Vec::new();
        }
        let last_level_before =
            order.last_level_canary.then(|| self.environment.last_level()).flatten();
        // What happens from here on may spoil the working set. The next such
        // call comes after the last sample: it changes what it interrupts.
        self.environment.losses_of_visit();
        let began = self.clock.start();
        work.restore();
        let restored = self.clock.start();
        let mut samples = Vec::with_capacity(order.samples as usize);
        let mut double_first = order.double_first;
        work.ready();
        // Beyond L2 a turn may take 10 ms, of which a cold start is nothing.
        if turns >= LEAST_TURNS || !order.last_level_canary {
            untimed(work, turns / FIRST_PART);
        }
        let mut before = self.environment.canary();
        let mut ended = restored;
        for _ in 0..order.samples {
            // After the canary, which has had L1, before each sample alike.
            work.ready();
            if turns >= LEAST_TURNS && !order.last_level_canary {
                untimed(work, turns / EACH_PART);
            }
            let (first_ticks, second_ticks, now) = self.bracket(work, turns, double_first);
            let after = self.environment.canary();
            let broken = first_ticks.is_none() || second_ticks == Some(None);
            samples.push(Sample {
                turns,
                first_ticks: first_ticks.unwrap_or(0),
                second_ticks: second_ticks.map(Option::unwrap_or_default),
                evidence: evidence(
                    &before,
                    &after,
                    &figures,
                    broken,
                    order.wait_for_quiet.is_some(),
                ),
                ..Sample::default()
            });
            before = after;
            ended = now;
            double_first = !double_first;
            let spent_ns = now.saturating_sub(restored) as f64 * self.ns_per_tick;
            if spent_ns > work.lasts_ns() as f64 {
                break;
            }
        }
        let losses = self.environment.losses_of_visit();
        let last_level = last_level_before.and_then(|before| {
            let after = self.environment.last_level()?;
            Some((before.max(after) * 1000.0).round() as u32)
        });
        let visit_ticks = ended.saturating_sub(began);
        for sample in &mut samples {
            sample.evidence.last_level_ps = last_level;
            sample.evidence.lost_ns = share_of_loss(sample, &losses, visit_ticks);
            if losses.migrated {
                sample.evidence.flags |= flag::MIGRATED;
            }
            if losses.throttled {
                sample.evidence.flags |= flag::THROTTLED;
            }
            if losses.faults > FEW_FAULTS && !work.faults_belong() {
                sample.evidence.flags |= flag::FAULTED;
            }
        }
        samples
    }

    /// One bracket: the loop once, or U and 2U in the order asked for. A
    /// reading that does not advance gives `None` in its place.
    #[allow(clippy::type_complexity)]
    fn bracket(
        &self,
        work: &mut dyn Work,
        turns: u64,
        double_first: bool,
    ) -> (Option<u64>, Option<Option<u64>>, u64) {
        let paired = work.paired();
        let t0 = self.clock.start();
        work.run(turns, paired && double_first);
        let t1 = self.clock.stop();
        let one = t1.checked_sub(t0).filter(|&ticks| ticks > 0);
        if !paired {
            return (one, None, t1);
        }
        let t2 = self.clock.start();
        work.run(turns, !double_first);
        let t3 = self.clock.stop();
        let other = t3.checked_sub(t2).filter(|&ticks| ticks > 0);
        if double_first { (other, Some(one), t3) } else { (one, Some(other), t3) }
    }

    fn wait_for(&mut self, gate: &Gate) -> bool {
        let mut quiet = 0;
        (0..PATIENCE).any(|_| {
            let reading = self.environment.canary();
            quiet = if gate.is_quiet_reading(&reading) { quiet + 1 } else { 0 };
            quiet == QUIET_IN_A_ROW
        })
    }

    fn distribution(&mut self, work: &mut dyn Work, order: &VisitOrder, turns: u64) -> Vec<Sample> {
        work.restore();
        self.environment.losses_of_visit();
        let mut samples = Vec::with_capacity(order.samples as usize);
        for _ in 0..order.samples {
            work.ready();
            let start = self.clock.start();
            work.run(turns, false);
            let ticks = self.clock.stop().checked_sub(start).filter(|&t| t > 0);
            let losses = self.environment.losses();
            samples.push(Sample {
                turns,
                first_ticks: ticks.unwrap_or(0),
                evidence: Evidence {
                    lost_ns: losses.lost_ns,
                    flags: if ticks.is_none() { flag::COUNTER_BROKEN } else { 0 },
                    ..Evidence::default()
                },
                ..Sample::default()
            });
        }
        if self.environment.losses_of_visit().throttled {
            for sample in &mut samples {
                sample.evidence.flags |= flag::THROTTLED;
            }
        }
        samples
    }
}

fn evidence(
    before: &CanaryReading,
    after: &CanaryReading,
    figures: &CoreFigures,
    broken: bool,
    waited_for_quiet: bool,
) -> Evidence {
    let mut flags = 0;
    let mut mark = |on: bool, bit: u8| {
        if on {
            flags |= bit;
        }
    };
    let slow = before.cycle_ns.max(after.cycle_ns);
    let fast = before.cycle_ns.min(after.cycle_ns);
    mark(slow > fast * (1.0 + CLOCK_MOVED_ABOVE), flag::CLOCK_MOVED);
    mark(broken, flag::COUNTER_BROKEN);
    mark(waited_for_quiet, flag::WAITED_FOR_QUIET);
    let thousandths = |value: f64| (value * 1000.0).round() as u32;
    let l1_load_ps = figures.l1_load_ns.map_or(0, thousandths);
    let capacity = before.capacity.zip(after.capacity);
    Evidence {
        canaries: Some(Canaries {
            branch_permille: [thousandths(before.ratio), thousandths(after.ratio)],
            capacity_permille: capacity
                .filter(|_| l1_load_ps > 0)
                .map(|(before, after)| [thousandths(before), thousandths(after)]),
            multiply_permille: thousandths(figures.multiply_ratio),
            l1_load_ps: capacity.map_or(0, |_| l1_load_ps),
        }),
        cycle_fs: Some(((slow + fast) / 2.0 * 1e6).round() as u32),
        flags,
        ..Evidence::default()
    }
}

/// Runs so many turns, at least one, outside the time.
fn untimed(work: &mut dyn Work, turns: u64) {
    let step = work.turn_step().max(1);
    let turns = turns.max(1).div_ceil(step).saturating_mul(step);
    work.run(turns, false);
    if work.paired() {
        work.run(turns, true);
    }
}

/// What of a visit's loss falls to a sample, by duration: which one it fell into
/// is not known, so each has some, and the share of time lost is the visit's.
fn share_of_loss(sample: &Sample, losses: &Losses, visit_ticks: u64) -> u64 {
    if losses.lost_ns == 0 {
        return 0;
    }
    let ticks = sample.first_ticks + sample.second_ticks.unwrap_or(0);
    let share = ticks as f64 / visit_ticks.max(ticks).max(1) as f64;
    ((losses.lost_ns as f64 * share).round() as u64).max(1)
}
