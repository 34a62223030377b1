//! From samples to a figure with its interval and a verdict.
//!
//! Three things are said of each quantity, together: what it costs on the
//! *quiet* machine (median of the quiet samples of each worker, the workers
//! averaged without the lowest and the highest), what it *typically* costs
//! (median, 10 % and 90 % quantile of everything), and what *share* of the
//! time was quiet. Nothing is deleted and nothing is clamped: a difference
//! that noise made negative enters as it is.

use crate::distribution::{
    self, contradicted, either_order, in_words, modes, modes_apart, two_states, typical,
};
pub use crate::distribution::{Mode, Typical};
use crate::gate::{Gate, GateState, LEAST_VISITS};
use crate::run::{Bound, CoreClock, Regime};
use crate::sample::{Sample, flag};
use crate::spread::{self, Between, Reading};
use crate::stats::{self, Interval};
use crate::tail::tail;
pub use crate::tail::{Longest, Tail};
use crate::unit::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An interval wider than this share of its figure, to either side, is noisy.
pub const NOISY_ABOVE: f64 = 0.05;
/// An interval wider than this says too little for any figure.
pub const CANNOT_TELL_ABOVE: f64 = 0.25;
/// The same two for the median of a distribution, which holds whatever the
/// machine did: it wanders by more than the cost on a quiet machine, and its
/// intervals with it (docs/method.md).
const OF_DISTRIBUTION: Limits = Limits {
    noisy_above: 0.10,
    cannot_tell_above: 0.5,
};
const OF_QUIET: Limits = Limits {
    noisy_above: NOISY_ABOVE,
    cannot_tell_above: CANNOT_TELL_ABOVE,
};
/// Times between stamps that may come in either order are judged as shares of
/// this many ns where they are shorter, since a part of a whole may be near 0
/// and yet be known well. So ±200 ns or less are never noisy, and ±1 µs or
/// less always tell something: that is little beside the tens of µs of a
/// thread's life, and not much more than two CPUs' stamps are good for.
pub const EITHER_ORDER_FROM_NS: f64 = 2_000.0;
/// A sample that lost its CPU for more than this share of its time was robbed.
pub const LOST_ABOVE: f64 = 0.02;
/// A worker's median counts from this many quiet samples on.
pub const SAMPLES_PER_WORKER: usize = 3;
/// Quiet samples needed in all.
pub const SAMPLES_IN_ALL: usize = 12;
/// Fewer, from this many on, are enough where they agree to [`FEW_WITHIN`].
const FEW_SAMPLES: usize = 6;
/// Median absolute deviation of a few samples that agree, as a share of their
/// median.
const FEW_WITHIN: f64 = 0.015;
/// Workers with enough quiet samples needed for an interval.
pub const WORKERS: usize = 3;

/// Reason of a row that most visits contradict, where the visits say no more.
pub const CONTRADICTED: &str = "what the kernel counted is not what the method assumes";

/// Reason of a row that only the canaries call quiet.
const UNCONFIRMED: &str =
    "too few visits read multiply/add, which confirms that the core was quiet";

/// How far a figure can be trusted.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Take it.
    Ok,
    /// The interval is wide, or the machine stole from it: the reason says.
    Noisy,
    /// There are two figures, not one: the reason gives both.
    TwoStates,
    /// Too little was seen of the quiet machine to say.
    CannotTell,
    /// The samples don't measure what the row says.
    Invalid,
}

impl Verdict {
    /// As printed.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Noisy => "noisy",
            Verdict::TwoStates => "two states",
            Verdict::CannotTell => "can't tell",
            Verdict::Invalid => "invalid",
        }
    }
}

/// The cost on the quiet machine.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
pub struct Quiet {
    /// ns per operation, with the 95 % interval. For a row bound by the core:
    /// cycles times the run's median cycle, the clock's own uncertainty
    /// included.
    pub ns: Interval,
    /// Clock cycles per operation, where the core's clock is known.
    pub cycles: Option<Interval>,
    /// Smallest quiet time, ns per operation: a check, not a figure. Of a
    /// difference of two loops: the smallest of the long one less the smallest
    /// of the short one.
    pub minimum_ns: f64,
    /// Quiet samples behind it.
    pub samples: u32,
    /// Workers behind the interval.
    pub workers: u32,
    /// Whether the interval in ns is that of the cycles at this run's clock:
    /// another run may have another clock, so compare cycles.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_run_clock: bool,
}

/// What the mark of [`Quiet::at_run_clock`] says, where a reader sees it.
pub const AT_RUN_CLOCK: &str = "at this run's clock";

/// What is known of one quantity.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Estimate {
    /// On the quiet machine; absent for a distribution, or where the machine
    /// was never quiet. Of two states it is the faster one.
    pub quiet: Option<Quiet>,
    /// As it came.
    pub typical: Option<Typical>,
    /// The far end of a distribution of stamped operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// Modes that stamped operations ran in, in the row's own order, or the two
    /// states that samples fall into, the lower first; empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// Share of the ordinary samples that were quiet.
    pub quiet_share: Option<f64>,
    /// If set, the figure can't be told from nothing: it is below this many
    /// ns.
    pub below_ns: Option<f64>,
    /// How far to trust it.
    pub verdict: Verdict,
    /// Why, in words; empty when there is nothing to say.
    pub reason: String,
}

impl Estimate {
    /// The figure to show first: quiet where there is one, else typical; of
    /// modes that lie apart, never of their mixture ([`Estimate::headline`]).
    pub fn ns(&self) -> Option<Interval> {
        self.quiet
            .map(|q| q.ns)
            .or_else(|| self.headline().map(|(typical, _)| typical.ns))
    }

    /// The typical cost to show first, with the name of the mode it is of.
    /// Where modes lie apart it is that of the first one with a sixth of the
    /// operations, else that of everything.
    pub fn headline(&self) -> Option<(Typical, Option<&str>)> {
        match distribution::headline(&self.modes).map(|place| &self.modes[place]) {
            // The states of a gated row are of its quiet samples.
            Some(mode) if self.quiet.is_none() => Some((mode.typical, Some(&mode.name))),
            _ => self.typical.map(|typical| (typical, None)),
        }
    }

    /// The mode that the figure to show first is of: of modes that lie apart the
    /// one of [`Estimate::headline`], else the only one that occurred.
    pub fn mode(&self) -> Option<&str> {
        let only = match &self.modes[..] {
            [only] if self.quiet.is_none() => Some(only.name.as_str()),
            _ => None,
        };
        only.or(self.headline()?.1)
    }

    /// The same estimate of a row in another unit than time: the reason for
    /// two states names their figures.
    #[must_use]
    pub fn in_unit(mut self, unit: &Unit) -> Estimate {
        if self.verdict == Verdict::TwoStates && !self.modes.is_empty() {
            self.reason = in_words(&self.modes, unit);
        }
        self
    }
}

/// What an estimate needs to know beside the samples.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Thresholds of the quiet machine.
    pub gate: &'a Gate,
    /// The core's clock over the run.
    pub core_clock: Option<&'a CoreClock>,
    /// Length of a tick of the measuring clock, ns.
    pub ns_per_tick: f64,
    /// Smallest step of the measuring clock, ns.
    pub resolution_ns: f64,
    /// Operations in one turn.
    pub ops_per_turn: f64,
    /// What the row's time follows.
    pub bound: Bound,
    /// How it was measured.
    pub regime: Regime,
    /// Workers that were meant to take samples.
    pub workers: u32,
    /// Names of the modes that stamped operations ran in.
    pub modes: &'a [String],
}

/// The estimate of one cell.
pub fn estimate(samples: &[Sample], context: &Context) -> Estimate {
    let mut estimate = match context.regime {
        Regime::Gated => gated(samples, context),
        Regime::Distribution => of_samples(samples, context),
        Regime::Stamped => stamped(samples, context),
    };
    if estimate.verdict != Verdict::Invalid && contradicted(&samples.iter().collect::<Vec<_>>()) {
        estimate.verdict = Verdict::Invalid;
        estimate.reason = CONTRADICTED.into();
    }
    estimate
}

pub(crate) fn ordinary(samples: &[Sample]) -> impl Iterator<Item = &Sample> {
    samples.iter().filter(|s| !s.has(flag::HUNTED))
}

fn of_samples(samples: &[Sample], context: &Context) -> Estimate {
    let readings = distribution::readings(ordinary(samples), context);
    let typical = typical(&readings);
    let states = two_states(&readings, &Unit::Time).map(|(states, _)| states);
    let (verdict, reason) = match &typical {
        _ if samples.iter().any(|s| s.has(flag::COUNTER_BROKEN)) => broken_counter(),
        None => (Verdict::CannotTell, "no sample was taken".into()),
        Some(known) => robbed(samples, context)
            .unwrap_or_else(|| judge_distribution(known, states.as_deref(), 0.0)),
    };
    Estimate {
        modes: states
            .filter(|_| verdict == Verdict::TwoStates)
            .unwrap_or_default(),
        ..of_distribution(typical.map(|(typical, _)| typical), verdict, reason)
    }
}

/// An estimate that is a distribution and its verdict, nothing else.
pub(crate) fn of_distribution(
    typical: Option<Typical>,
    verdict: Verdict,
    reason: String,
) -> Estimate {
    Estimate {
        quiet: None,
        typical,
        tail: None,
        modes: Vec::new(),
        quiet_share: None,
        below_ns: None,
        verdict,
        reason,
    }
}

fn stamped(samples: &[Sample], context: &Context) -> Estimate {
    let all: Vec<&Sample> = samples.iter().collect();
    let readings = distribution::readings(samples, context);
    let typical = typical(&readings);
    let (mut modes, between): (Vec<Mode>, Vec<Between>) = modes(&all, context).into_iter().unzip();
    let mut apart = modes_apart(&modes);
    // What is judged is what stands for the row.
    let shown = distribution::headline(&modes).map(|place| (modes[place].typical, between[place]));
    if modes.is_empty()
        && let Some((states, _)) = two_states(&readings, &Unit::Time)
    {
        (modes, apart) = (states, true);
    }
    let (verdict, reason) = match &shown.or(typical) {
        _ if samples.iter().any(|s| s.has(flag::COUNTER_BROKEN)) => broken_counter(),
        None => (Verdict::CannotTell, "no operation was stamped".into()),
        Some(known) => {
            let least_ns = match either_order(&all, context) {
                true => EITHER_ORDER_FROM_NS,
                false => 0.0,
            };
            judge_distribution(known, apart.then_some(&modes[..]), least_ns)
        }
    };
    Estimate {
        quiet: None,
        typical: typical.map(|(typical, _)| typical),
        tail: tail(&all, context),
        modes,
        quiet_share: None,
        below_ns: None,
        verdict,
        reason,
    }
}

/// The width counts as a share of `least_ns` where the figure is below that.
fn judge_distribution(
    (typical, between): &(Typical, Between),
    states: Option<&[Mode]>,
    least_ns: f64,
) -> (Verdict, String) {
    if typical.samples < 6 {
        let few = format!("only {} samples: too few for an interval", typical.samples);
        return (Verdict::CannotTell, few);
    }
    match states {
        Some(states) => (Verdict::TwoStates, in_words(states, &Unit::Time)),
        None => judge_width(
            &typical.ns,
            least_ns,
            OF_DISTRIBUTION,
            between.text(),
            &Unit::Time,
        ),
    }
}

fn gated(samples: &[Sample], context: &Context) -> Estimate {
    let typical = typical(&distribution::readings(ordinary(samples), context));
    let asked = ordinary(samples).count();
    let quiet_samples = context.gate.quiet_samples(samples);
    let calm = quiet_samples
        .iter()
        .filter(|s| !s.has(flag::HUNTED))
        .count();
    let needed_workers = WORKERS.min(context.workers as usize).max(2);
    let enough = quiet_samples.len() >= SAMPLES_IN_ALL || few_but_alike(&quiet_samples, context);
    let known = quiet(&quiet_samples, context)
        .filter(|(quiet, _)| enough && quiet.workers as usize >= needed_workers);
    let mut estimate = Estimate {
        quiet_share: (asked > 0).then(|| calm as f64 / asked as f64),
        below_ns: known
            .as_ref()
            .and_then(|(q, _)| below_resolution(q, &quiet_samples, context)),
        ..of_distribution(
            typical.map(|(typical, _)| typical),
            Verdict::Ok,
            String::new(),
        )
    };
    let states = known.as_ref().and_then(|_| {
        let values = spread::readings(quiet_samples.iter().copied(), |s| in_ns(s, context));
        two_states(&values, &Unit::Time).filter(|_| estimate.below_ns.is_none())
    });
    let broken = invalid(samples, context);
    estimate.quiet = known.map(|(quiet, _)| quiet);
    (estimate.verdict, estimate.reason) = match (broken, known, states) {
        (Some(broken), ..) => broken,
        (None, None, _) => (
            Verdict::CannotTell,
            too_few(&quiet_samples, samples, context),
        ),
        (None, Some(_), _) if estimate.below_ns.is_some() => (Verdict::Ok, String::new()),
        (None, Some(_), Some((states, split))) => {
            // The figure is that of one state, and none between them.
            let mut fast = quiet_samples;
            fast.retain(|s| in_ns(s, context) <= split);
            estimate.quiet = quiet(&fast, context).map(|(quiet, _)| quiet);
            let reason = in_words(&states, &Unit::Time);
            estimate.modes = states;
            (Verdict::TwoStates, reason)
        }
        (None, Some((quiet, between)), None) => judge_width(
            &quiet.cycles_or_ns(context.bound),
            0.0,
            OF_QUIET,
            between.text(),
            &Unit::Time,
        ),
    };
    if estimate.verdict == Verdict::Ok && !context.gate.is_confirmed() {
        estimate.verdict = Verdict::CannotTell;
        estimate.reason = UNCONFIRMED.into();
    }
    estimate
}

impl Quiet {
    /// The interval that the row itself is answerable for: the core clock's
    /// wandering is the run's, not the row's.
    fn cycles_or_ns(&self, bound: Bound) -> Interval {
        match (bound, self.cycles) {
            (Bound::Core, Some(cycles)) => cycles,
            _ => self.ns,
        }
    }
}

/// One sample in ns: for a row bound by the core, its cycles at the run's
/// median clock.
pub(crate) fn in_ns(sample: &Sample, context: &Context) -> f64 {
    let ns = sample.ns_per_op(context.ops_per_turn, context.ns_per_tick);
    match (context.bound, context.core_clock, sample.cycle_ns()) {
        (Bound::Core, Some(clock), Some(cycle)) => ns / cycle * clock.cycle_ns.value,
        _ => ns,
    }
}

/// Why there is no quiet figure.
fn too_few(quiet: &[&Sample], all: &[Sample], context: &Context) -> String {
    let gate = context.gate;
    if gate.state == GateState::NeverQuiet {
        return gate.reason.clone();
    }
    let visits: BTreeSet<u64> = ordinary(all)
        .map(|s| spread::visit(s.worker, s.at_ms))
        .collect();
    let calm = gate
        .quiet_readings(ordinary(all))
        .filter(|&calm| calm < 0.5 && gate.quiet_ratio.is_some() && visits.len() >= LEAST_VISITS);
    if let Some(calm) = calm {
        let busy = (1.0 - calm) * 100.0;
        // The canaries see whatever takes L1 and the front end; the
        // multiplications see who shares the core.
        return match gate.multiply_is_whole() {
            Some(false) => format!(
                "the core's other hardware thread was busy in {busy:.0} % of readings; typical is for a shared core"
            ),
            _ => format!("a neighbour or the host disturbed {busy:.0} % of readings"),
        };
    }
    if quiet.len() < SAMPLES_IN_ALL {
        return format!(
            "only {} of {} samples were taken on a quiet machine",
            quiet.len(),
            all.len()
        );
    }
    "too few worker processes have enough samples of a quiet machine".into()
}

/// Median of each worker that has enough samples.
pub(crate) fn worker_medians(values: &[(u32, f64)]) -> Vec<f64> {
    let medians = medians_by_worker(values);
    medians.into_iter().map(|(_, median)| median).collect()
}

/// The same with the workers' numbers.
pub(crate) fn medians_by_worker(values: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let mut workers: Vec<u32> = values.iter().map(|&(worker, _)| worker).collect();
    workers.sort_unstable();
    workers.dedup();
    workers
        .into_iter()
        .filter_map(|worker| {
            let own: Vec<f64> = values
                .iter()
                .filter(|&&(w, _)| w == worker)
                .map(|&(_, v)| v)
                .collect();
            let enough = own.len() >= SAMPLES_PER_WORKER;
            Some((worker, stats::median(own).filter(|_| enough)?))
        })
        .collect()
}

/// The figure of these quiet samples, and what its interval is over.
fn quiet(samples: &[&Sample], context: &Context) -> Option<(Quiet, Between)> {
    let ns_of = |s: &Sample| s.ns_per_op(context.ops_per_turn, context.ns_per_tick);
    let raw = spread::readings(samples.iter().copied(), ns_of);
    let workers = spread::of_workers(&raw).len();
    let (raw_ns, mut between) = known(&raw)?;
    let in_cycles: Option<Vec<Reading>> = samples
        .iter()
        .zip(&raw)
        .map(|(s, &reading)| {
            let value = reading.value / s.cycle_ns()?;
            Some(Reading { value, ..reading })
        })
        .collect();
    let cycles = in_cycles.and_then(|readings| known(&readings));
    let mut ns = raw_ns;
    let mut at_run_clock = false;
    if let (Bound::Core, Some(clock), Some((cycles, of_cycles))) =
        (context.bound, context.core_clock, &cycles)
    {
        (ns, between, at_run_clock) = (cycles.times(&clock.cycle_ns), *of_cycles, true);
    }
    let quiet = Quiet {
        ns,
        cycles: cycles.map(|(cycles, _)| cycles),
        minimum_ns: minimum(samples, context),
        samples: samples.len() as u32,
        workers: workers as u32,
        at_run_clock,
    };
    Some((quiet, between))
}

/// The mean of the workers' medians without the lowest and the highest, with
/// the wider of the intervals over workers and over stretches of time.
fn known(readings: &[Reading]) -> Option<(Interval, Between)> {
    let workers = stats::trimmed_t_interval(&spread::of_workers(readings))?;
    let (half, between) =
        spread::half_width(readings).unwrap_or((workers.half_width(), Between::Workers));
    let interval = Interval {
        low: workers.value - half,
        high: workers.value + half,
        ..workers
    };
    Some((interval, between))
}

/// The smallest time of an operation. Of a difference it is that of the
/// smallest times of both loops: the smallest difference is only the one that
/// noise got hold of most.
fn minimum(samples: &[&Sample], context: &Context) -> f64 {
    let least = |ticks: fn(&Sample) -> f64| {
        samples
            .iter()
            .map(|s| ticks(s) * context.ns_per_tick / (s.turns as f64 * context.ops_per_turn))
            .fold(f64::INFINITY, f64::min)
    };
    let first = least(|s| s.first_ticks as f64);
    match samples.iter().any(|s| s.second_ticks.is_some()) {
        true => least(|s| s.second_ticks.map_or(f64::INFINITY, |ticks| ticks as f64)) - first,
        false => first,
    }
}

/// Whether a few quiet samples agree so well that no more are needed.
fn few_but_alike(samples: &[&Sample], context: &Context) -> bool {
    let values = || samples.iter().map(|s| in_ns(s, context));
    let Some(median) = stats::median(values()) else {
        return false;
    };
    let deviation = stats::median(values().map(|value| (value - median).abs()));
    samples.len() >= FEW_SAMPLES && deviation.is_some_and(|d| d < FEW_WITHIN * median.abs())
}

/// The bound below which the figure can't be told from nothing, if it is
/// there: the interval holds 0 and is narrow (so the figure is known to be
/// small), or the figure is within three steps of the clock.
fn below_resolution(quiet: &Quiet, samples: &[&Sample], context: &Context) -> Option<f64> {
    let ops = stats::median(
        samples
            .iter()
            .map(|s| s.turns as f64 * context.ops_per_turn),
    )?;
    let step_ns = context.resolution_ns / ops;
    let cycle_ns = context.core_clock.map_or(0.4, |c| c.cycle_ns.value);
    let near_zero = quiet.ns.low <= 0.0 && quiet.ns.half_width() < 0.1 * cycle_ns;
    let reach = quiet.ns.low.abs().max(quiet.ns.high.abs());
    (near_zero || quiet.ns.value.abs() < 3.0 * step_ns).then(|| reach.max(3.0 * step_ns))
}

fn broken_counter() -> (Verdict, String) {
    (
        Verdict::Invalid,
        "the clock ran backwards or stood still during a sample".into(),
    )
}

fn invalid(samples: &[Sample], context: &Context) -> Option<(Verdict, String)> {
    if samples.is_empty() {
        return Some((Verdict::CannotTell, "no sample was taken".into()));
    }
    if samples.iter().any(|s| s.has(flag::COUNTER_BROKEN)) {
        return Some(broken_counter());
    }
    let faulted = samples.iter().filter(|s| s.has(flag::FAULTED)).count();
    if faulted * 2 > samples.len() {
        return Some((
            Verdict::Invalid,
            "page faults inside most samples: the working set does not stay in memory".into(),
        ));
    }
    robbed(samples, context)
}

/// Whether the thread lost its CPU in most samples, for more than a fiftieth of
/// their time: a sample of ten milliseconds sees others come and go.
fn robbed(samples: &[Sample], context: &Context) -> Option<(Verdict, String)> {
    let robbed = ordinary(samples)
        .filter(|s| {
            let ticks = s.first_ticks + s.second_ticks.unwrap_or(0);
            s.evidence.lost_ns as f64 > LOST_ABOVE * ticks as f64 * context.ns_per_tick
        })
        .count();
    (robbed * 2 > ordinary(samples).count()).then(|| {
        (
            Verdict::Invalid,
            "the measuring thread lost its CPU in most samples".into(),
        )
    })
}

/// How wide an interval may be, to either side, as a share of its figure.
#[derive(Clone, Copy)]
struct Limits {
    noisy_above: f64,
    cannot_tell_above: f64,
}

/// Judges the width of a figure of a command's runs.
pub(crate) fn judge_runs(interval: &Interval, least: f64, unit: &Unit) -> (Verdict, String) {
    judge_width(interval, least, OF_QUIET, "runs", unit)
}

/// The width counts as a share of `least` where the figure is below that.
fn judge_width(
    interval: &Interval,
    least: f64,
    limits: Limits,
    who: &str,
    unit: &Unit,
) -> (Verdict, String) {
    let half = crate::figure::value(unit, interval.half_width());
    let small = interval.value.abs() < least;
    let width = match small {
        true => interval.half_width() / least,
        false => interval.relative_half_width(),
    };
    let reason = match small {
        true if *unit == Unit::Count => format!("{who} disagree by ±{half} events"),
        true => format!("{who} disagree by ±{half}"),
        // A percentage of a figure that may be nothing says nothing.
        false if width >= 1.0 => format!("{who} disagree: the interval reaches 0"),
        false => format!("{who} disagree by ±{:.0} %", width * 100.0),
    };
    if width > limits.cannot_tell_above {
        (Verdict::CannotTell, reason)
    } else if width > limits.noisy_above {
        (Verdict::Noisy, reason)
    } else {
        (Verdict::Ok, String::new())
    }
}

/// The core's clock over a run, from the canaries of all ordinary samples.
///
/// The interval is over stretches of the run, not over workers: all workers
/// see the same clock at the same time, and it wanders over seconds.
pub fn core_clock(samples: &[Sample]) -> Option<CoreClock> {
    const STRETCHES: u32 = 10;
    let readings: Vec<(u32, f64)> = ordinary(samples)
        .filter(|s| s.evidence.lost_ns == 0)
        .filter_map(|s| Some((s.at_ms, s.cycle_ns()?)))
        .collect();
    let end = readings.iter().map(|&(at, _)| at).max()? + 1;
    let sorted = stats::sorted(readings.iter().map(|&(_, c)| c));
    let value = stats::quantile_sorted(&sorted, 0.5)?;
    let stretch_medians: Vec<f64> = (0..STRETCHES)
        .filter_map(|k| {
            let from = u64::from(end) * u64::from(k) / u64::from(STRETCHES);
            let to = u64::from(end) * u64::from(k + 1) / u64::from(STRETCHES);
            stats::median(
                readings
                    .iter()
                    .filter(|&&(at, _)| (from..to).contains(&u64::from(at)))
                    .map(|&(_, c)| c),
            )
        })
        .collect();
    let half = stats::t_interval(&stretch_medians).map_or(0.0, |i| i.half_width());
    // Each stretch counts alike, however many canaries fell into it.
    let value = stats::median(stretch_medians).unwrap_or(value);
    Some(CoreClock {
        cycle_ns: Interval {
            value,
            low: value - half,
            high: value + half,
        },
        p10_ns: stats::quantile_sorted(&sorted, 0.1)?,
        p90_ns: stats::quantile_sorted(&sorted, 0.9)?,
        shortest_ns: stats::quantile_sorted(&sorted, 0.01)?,
        longest_ns: stats::quantile_sorted(&sorted, 0.99)?,
        readings: sorted.len() as u32,
    })
}
