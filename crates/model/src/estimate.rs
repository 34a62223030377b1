//! From samples to a figure with its interval and a verdict.
//!
//! Three things are said of each quantity, together: what it costs on the
//! *quiet* machine (median of the quiet samples of each worker, the workers
//! averaged without the lowest and the highest), what it *typically* costs
//! (median, 10 % and 90 % quantile of everything), and what *share* of the
//! time was quiet. Nothing is deleted and nothing is clamped: a difference
//! that noise made negative enters as it is.

pub use crate::distribution::{Mode, Tail, Typical};
use crate::distribution::{
    contradicted, either_order, modes, modes_apart, tail, typical, typical_over_workers,
};
use crate::gate::Gate;
use crate::run::{Bound, CoreClock, Regime};
use crate::sample::{Sample, flag};
use crate::stats::{self, Interval};
use crate::unit::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An interval wider than this share of its figure, to either side, is noisy.
pub const NOISY_ABOVE: f64 = 0.05;
/// An interval wider than this says too little for any figure.
pub const CANNOT_TELL_ABOVE: f64 = 0.25;
/// Times between stamps that may come in either order are judged as shares of
/// this many ns where they are shorter, since a part of a whole may be near 0
/// and yet be known well. So ±250 ns or less are never noisy, and ±1.25 µs or
/// less always tell something: that is little beside the tens of µs of a
/// thread's life, and not much more than two CPUs' stamps are good for.
pub const EITHER_ORDER_FROM_NS: f64 = 5_000.0;
/// A sample that lost its CPU for more than this share of its time was robbed.
pub const LOST_ABOVE: f64 = 0.02;
/// A worker's median counts from this many quiet samples on.
pub const SAMPLES_PER_WORKER: usize = 3;
/// Quiet samples needed in all.
pub const SAMPLES_IN_ALL: usize = 12;
/// Workers with enough quiet samples needed for an interval.
pub const WORKERS: usize = 3;

/// Reason of a row that most visits contradict, where the visits say no more.
pub const CONTRADICTED: &str = "what the kernel counted is not what the method assumes";

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
    /// Smallest quiet sample, ns per operation: a check, not a figure.
    pub minimum_ns: f64,
    /// Quiet samples behind it.
    pub samples: u32,
    /// Workers behind the interval.
    pub workers: u32,
}

/// What is known of one quantity.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Estimate {
    /// On the quiet machine; absent for a distribution, or where the machine
    /// was never quiet.
    pub quiet: Option<Quiet>,
    /// As it came.
    pub typical: Option<Typical>,
    /// The far end of a distribution of stamped operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// Modes that stamped operations ran in, the most frequent first; empty
    /// where there is one.
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
    /// The figure to show first: quiet where there is one, else typical.
    pub fn ns(&self) -> Option<Interval> {
        self.quiet
            .map(|q| q.ns)
            .or_else(|| self.typical.map(|t| t.ns))
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
        Regime::Distribution => distribution(samples, context),
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

fn distribution(samples: &[Sample], context: &Context) -> Estimate {
    let typical = typical_over_workers(&ordinary(samples).collect::<Vec<_>>(), context);
    let (verdict, reason) = match &typical {
        _ if samples.iter().any(|s| s.has(flag::COUNTER_BROKEN)) => broken_counter(),
        None => (Verdict::CannotTell, "no sample was taken".into()),
        Some(t) => {
            robbed(samples, context).unwrap_or_else(|| judge_distribution(samples, t, 0.0, context))
        }
    };
    of_distribution(typical, verdict, reason)
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
    let typical = typical_over_workers(&all, context);
    let modes = modes(&all, context);
    let (verdict, reason) = match &typical {
        _ if samples.iter().any(|s| s.has(flag::COUNTER_BROKEN)) => broken_counter(),
        None => (Verdict::CannotTell, "no operation was stamped".into()),
        Some(t) => match modes_apart(&modes) {
            Some(reason) => (Verdict::TwoStates, reason),
            None => {
                let least_ns = match either_order(&all, context) {
                    true => EITHER_ORDER_FROM_NS,
                    false => 0.0,
                };
                judge_distribution(samples, t, least_ns, context)
            }
        },
    };
    Estimate {
        quiet: None,
        typical,
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
    samples: &[Sample],
    typical: &Typical,
    least_ns: f64,
    context: &Context,
) -> (Verdict, String) {
    if typical.samples < 6 {
        let few = format!("only {} samples: too few for an interval", typical.samples);
        return (Verdict::CannotTell, few);
    }
    let ns = |s: &Sample| s.ns_per_op(context.ops_per_turn, context.ns_per_tick);
    match two_states(samples.iter().map(ns), &Unit::Time) {
        Some(reason) => (Verdict::TwoStates, reason),
        None => judge_width(&typical.ns, least_ns, "samples", &Unit::Time),
    }
}

fn gated(samples: &[Sample], context: &Context) -> Estimate {
    let typical = typical(ordinary(samples), context);
    let asked = ordinary(samples).count();
    let calm = ordinary(samples)
        .filter(|s| context.gate.is_quiet(s))
        .count();
    let quiet_samples: Vec<&Sample> = samples
        .iter()
        .filter(|s| context.gate.is_quiet(s))
        .collect();
    let quiet = quiet(&quiet_samples, context);
    let below_ns = quiet
        .as_ref()
        .and_then(|q| below_resolution(q, &quiet_samples, context));
    let (verdict, reason) = invalid(samples, context).unwrap_or_else(|| match &quiet {
        None => (Verdict::CannotTell, too_few(&quiet_samples, samples.len())),
        Some(_) if below_ns.is_some() => (Verdict::Ok, String::new()),
        Some(q) => match two_states(quiet_samples.iter().map(|s| in_ns(s, context)), &Unit::Time) {
            Some(reason) => (Verdict::TwoStates, reason),
            None => judge_width(
                &q.cycles_or_ns(context.bound),
                0.0,
                "worker processes",
                &Unit::Time,
            ),
        },
    });
    Estimate {
        quiet,
        typical,
        tail: None,
        modes: Vec::new(),
        quiet_share: (asked > 0).then(|| calm as f64 / asked as f64),
        below_ns,
        verdict,
        reason,
    }
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
fn too_few(quiet: &[&Sample], all: usize) -> String {
    if quiet.len() < SAMPLES_IN_ALL {
        return format!(
            "only {} of {all} samples were taken on a quiet machine",
            quiet.len()
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

fn quiet(samples: &[&Sample], context: &Context) -> Option<Quiet> {
    let needed_workers = WORKERS.min(context.workers as usize).max(2);
    if samples.len() < SAMPLES_IN_ALL {
        return None;
    }
    let ns_of = |s: &Sample| s.ns_per_op(context.ops_per_turn, context.ns_per_tick);
    let raw: Vec<(u32, f64)> = samples.iter().map(|s| (s.worker, ns_of(s))).collect();
    let in_cycles: Option<Vec<(u32, f64)>> = samples
        .iter()
        .map(|s| s.cycle_ns().map(|cycle| (s.worker, ns_of(s) / cycle)))
        .collect();
    let medians = worker_medians(&raw);
    if medians.len() < needed_workers {
        return None;
    }
    let raw_ns = stats::trimmed_t_interval(&medians)?;
    let cycles = in_cycles.and_then(|values| stats::trimmed_t_interval(&worker_medians(&values)));
    let ns = match (context.bound, context.core_clock, &cycles) {
        (Bound::Core, Some(clock), Some(cycles)) => cycles.times(&clock.cycle_ns),
        _ => raw_ns,
    };
    Some(Quiet {
        ns,
        cycles,
        minimum_ns: raw.iter().map(|&(_, v)| v).fold(f64::INFINITY, f64::min),
        samples: samples.len() as u32,
        workers: medians.len() as u32,
    })
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

/// The width counts as a share of `least` where the figure is below that.
pub(crate) fn judge_width(
    interval: &Interval,
    least: f64,
    who: &str,
    unit: &Unit,
) -> (Verdict, String) {
    let (width, half) = match interval.value.abs() < least {
        true => {
            let half = crate::figure::value(unit, interval.half_width());
            let events = if *unit == Unit::Count { " events" } else { "" };
            (interval.half_width() / least, format!("{half}{events}"))
        }
        false => {
            let width = interval.relative_half_width();
            let text = match width.is_finite() {
                true => format!("{:.0} %", width * 100.0),
                false => crate::figure::value(unit, interval.half_width()),
            };
            (width, text)
        }
    };
    let reason = format!("{who} disagree by ±{half}");
    if width > CANNOT_TELL_ABOVE {
        (Verdict::CannotTell, reason)
    } else if width > NOISY_ABOVE {
        (Verdict::Noisy, reason)
    } else {
        (Verdict::Ok, String::new())
    }
}

/// Looks for two figures in what should be one: the best split of the sorted
/// values (Otsu's: largest variance between the parts), believed only when
/// each part holds a sixth, the medians lie 20 % apart, and a real valley
/// separates them. Gives the words for it.
pub(crate) fn two_states(values: impl Iterator<Item = f64>, unit: &Unit) -> Option<String> {
    let sorted = stats::sorted(values);
    let n = sorted.len();
    if n < 2 * SAMPLES_IN_ALL {
        return None;
    }
    let total: f64 = sorted.iter().sum();
    let mut below = 0.0;
    let mut best = (0, 0.0);
    for split in 1..n {
        below += sorted[split - 1];
        let (a, b) = (split as f64, (n - split) as f64);
        let apart = below / a - (total - below) / b;
        let between = a * b * apart * apart;
        if between > best.1 {
            best = (split, between);
        }
    }
    let (low, high) = sorted.split_at(best.0);
    if low.len().min(high.len()) * 6 < n {
        return None;
    }
    let low_median = stats::quantile_sorted(low, 0.5)?;
    let high_median = stats::quantile_sorted(high, 0.5)?;
    let apart = high_median - low_median;
    let valley = stats::quantile_sorted(high, 0.1)? - stats::quantile_sorted(low, 0.9)?;
    let two = low_median > 0.0 && high_median > 1.2 * low_median && valley > 0.4 * apart;
    two.then(|| {
        let share = low.len() as f64 / n as f64 * 100.0;
        format!(
            "{} in {share:.0} % of the samples, {} in {:.0} %",
            crate::figure::value(unit, low_median),
            crate::figure::value(unit, high_median),
            100.0 - share
        )
    })
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
