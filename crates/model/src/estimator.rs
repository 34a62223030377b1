//! From samples to a figure with its interval and a verdict.
//!
//! Three things are said of each quantity, together: what it costs on the
//! *quiet* machine (median of the quiet samples of each worker, the workers
//! averaged without the lowest and the highest), what it *typically* costs
//! (median, 10 % and 90 % quantile of everything), and what *share* of the
//! time was quiet. Nothing is deleted and nothing is clamped: a difference
//! that noise made negative enters as it is.

use crate::context::{Context, in_ns};
use crate::cpu_wait;
use crate::distribution::{
    self, contradicted, either_order, modes, modes_apart, two_states, typical,
};
use crate::estimate::{
    CANNOT_TELL_ABOVE, EITHER_ORDER_FROM_NS, Estimate, LOST_ABOVE, Mode, NOISY_ABOVE, Quiet,
    SAMPLES_IN_ALL, Typical, Verdict, WORKERS, headline, modes_text, of_distribution,
};
use crate::gate::{GateState, LEAST_VISITS};
use crate::low_end::low_end;
use crate::phrases::counted;
use crate::row_kind::{Bound, Regime};
use crate::sample::{Sample, flag, ordinary};
use crate::selection_bias;
use crate::share::{self, percent};
use crate::spread::{self, Between, Observation};
use crate::stats::{self, Interval};
use crate::tail::tail;
use crate::unit::Unit;
use std::collections::BTreeSet;

/// The same two for the median of a distribution, which holds whatever the
/// machine did: it wanders by more than the cost on a quiet machine, and its
/// intervals with it (docs/method.md).
const OF_DISTRIBUTION: WidthLimits = WidthLimits { noisy_above: 0.10, cannot_tell_above: 0.5 };
const OF_QUIET: WidthLimits =
    WidthLimits { noisy_above: NOISY_ABOVE, cannot_tell_above: CANNOT_TELL_ABOVE };
/// Fewer, from this many on, are enough where they agree to [`FEW_WITHIN`].
const FEW_SAMPLES: usize = 6;
/// Median absolute deviation of a few samples that agree, as a share of their
/// median.
const FEW_WITHIN: f64 = 0.015;

/// Reason of a row that most visits contradict, where the visits say no more.
const CONTRADICTED: &str = "the kernel's counters contradict the method";

/// Reason of a row that only the canaries call quiet.
const UNCONFIRMED: &str = "too few checks for a shared core";

/// The estimate of one cell.
pub fn estimate(samples: &[Sample], context: &Context) -> Estimate {
    let mut estimate = match context.regime {
        Regime::Gated => gated(samples, context),
        Regime::Distribution => of_samples(samples, context),
        Regime::Stamped => stamped(samples, context),
    };
    if estimate.verdict == Verdict::Invalid {
        estimate.invalidate(estimate.reason.clone());
    } else if contradicted(&samples.iter().collect::<Vec<_>>()) {
        estimate.invalidate(context.contradiction.unwrap_or(CONTRADICTED).into());
    } else if context.regime == Regime::Gated {
        selection_bias::weigh(&mut estimate, samples, context);
    }
    estimate
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
        modes: states.filter(|_| verdict == Verdict::TwoStates).unwrap_or_default(),
        ..of_distribution(typical.map(|(typical, _)| typical), verdict, reason)
    }
}

fn stamped(samples: &[Sample], context: &Context) -> Estimate {
    let all: Vec<&Sample> = samples.iter().collect();
    let readings = distribution::readings(samples, context);
    let typical = typical(&readings);
    let (mut modes, between): (Vec<Mode>, Vec<Between>) = modes(&all, context).into_iter().unzip();
    let mut apart = modes_apart(&modes);
    // What is judged is what stands for the row.
    let place = headline(&modes);
    let shown = place.map(|place| (modes[place].typical, between[place]));
    let shown_mode = place.map(|place| modes[place].name.clone());
    let mode = shown_mode.as_deref();
    if modes.is_empty()
        && let Some((states, _)) = two_states(&readings, &Unit::Time)
    {
        (modes, apart) = (states, true);
    }
    let (verdict, reason) = match &shown.or(typical) {
        _ if samples.iter().any(|s| s.has(flag::COUNTER_BROKEN)) => broken_counter(),
        None => (Verdict::CannotTell, "no sample was taken".into()),
        Some(known) => runnable(known.0.ns.value, mode, &all, context).unwrap_or_else(|| {
            let least_ns = match either_order(&all, context) {
                true => EITHER_ORDER_FROM_NS,
                false => 0.0,
            };
            judge_distribution(known, apart.then_some(&modes[..]), least_ns)
        }),
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
        Some(states) => (Verdict::TwoStates, modes_text(states, &Unit::Time)),
        None => judge_width(&typical.ns, least_ns, OF_DISTRIBUTION, between.text(), &Unit::Time),
    }
}

fn gated(samples: &[Sample], context: &Context) -> Estimate {
    let typical = typical(&distribution::readings(ordinary(samples), context));
    let asked = ordinary(samples).count();
    let quiet_samples = context.gate.quiet_samples(samples);
    let calm = quiet_samples.iter().filter(|s| !s.has(flag::WAITED_FOR_QUIET)).count();
    let needed_workers = WORKERS.min(context.workers as usize).max(2);
    let enough = quiet_samples.len() >= SAMPLES_IN_ALL || few_but_alike(&quiet_samples, context);
    let known = quiet(&quiet_samples, context)
        .filter(|(quiet, _)| enough && quiet.workers as usize >= needed_workers);
    let mut estimate = Estimate {
        quiet_share: (asked > 0).then(|| calm as f64 / asked as f64),
        below_ns: known.as_ref().and_then(|(q, _)| below_resolution(q, &quiet_samples, context)),
        ..of_distribution(typical.map(|(typical, _)| typical), Verdict::Ok, String::new())
    };
    let states = known.as_ref().and_then(|_| {
        let values = spread::readings(quiet_samples.iter().copied(), |s| in_ns(s, context));
        two_states(&values, &Unit::Time).filter(|_| estimate.below_ns.is_none())
    });
    let broken = invalid(samples);
    estimate.quiet = known.map(|(quiet, _)| quiet);
    let robbed = robbed(samples, context);
    // Undisturbed samples that vary do so by themselves: their low end would hide it.
    let may_be_low_end = broken.is_none() && (known.is_none() || robbed.is_some());
    let broken = broken.or(robbed);
    (estimate.verdict, estimate.reason) = match (broken, known, states) {
        (Some(broken), ..) => broken,
        (None, None, _) => (Verdict::CannotTell, too_few(&quiet_samples, samples, context)),
        (None, Some(_), _) if estimate.below_ns.is_some() => (Verdict::Ok, String::new()),
        (None, Some(_), Some((states, split))) => {
            // The figure is that of one state, and none between them.
            let mut fast = quiet_samples;
            fast.retain(|s| in_ns(s, context) <= split);
            estimate.quiet = quiet(&fast, context).map(|(quiet, _)| quiet);
            let reason = modes_text(&states, &Unit::Time);
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
    if may_be_low_end {
        by_low_end(&mut estimate, samples, context);
    }
    if estimate.verdict == Verdict::Ok && !context.gate.is_confirmed() {
        estimate.verdict = Verdict::CannotTell;
        estimate.reason = UNCONFIRMED.into();
    }
    estimate
}

/// Takes the figure that the low end supports, if it is good for one.
fn by_low_end(estimate: &mut Estimate, samples: &[Sample], context: &Context) {
    let Some(low_end) = low_end(samples, context) else { return };
    let all: Vec<&Sample> = samples.iter().collect();
    let quiet = Quiet {
        low_end: true,
        samples: low_end.samples as u32,
        workers: low_end.workers as u32,
        ..at_clock(low_end.ns, low_end.cycles, &all, context)
    };
    let interval = quiet.cycles_or_ns(context.bound);
    let below_ns = below_resolution(&quiet, &all, context);
    let (verdict, _) = judge_width(&interval, 0.0, OF_QUIET, "batches", &Unit::Time);
    let verdict = if below_ns.is_some() { Verdict::Ok } else { verdict };
    if verdict.is_usable() {
        let end = if low_end.visits == 1 {
            "1 batch".into()
        } else {
            format!("{} batches", low_end.visits)
        };
        estimate.reason = format!("{}: from the low end of {end}", estimate.reason);
        (estimate.quiet, estimate.below_ns, estimate.verdict) = (Some(quiet), below_ns, verdict);
    }
}

/// Why there is no quiet figure.
fn too_few(quiet: &[&Sample], all: &[Sample], context: &Context) -> String {
    let gate = context.gate;
    if gate.state == GateState::NeverQuiet {
        return gate.reason.clone();
    }
    let visits: BTreeSet<u64> = ordinary(all).map(|s| spread::visit(s.worker, s.at_ms)).collect();
    let calm = gate
        .quiet_readings(ordinary(all))
        .filter(|&calm| calm < 0.5 && gate.quiet_ratio.is_some() && visits.len() >= LEAST_VISITS);
    if let Some(calm) = calm {
        let busy = percent(1.0 - calm);
        // The canaries see whatever takes L1 and the front end; the
        // multiplications react to a task that shares the core. Whose it was,
        // an SMT sibling's or a guest's that can't be seen from here, no
        // reading says.
        return match gate.multiply_is_whole() {
            Some(false) => format!("the core was shared in {busy} of readings"),
            _ => format!("{busy} of readings were disturbed"),
        };
    }
    if quiet.len() < SAMPLES_IN_ALL {
        let samples = counted(quiet.len(), "undisturbed sample");
        return format!("{samples}, {SAMPLES_IN_ALL} needed");
    }
    let raw = spread::readings(quiet.iter().copied(), |s| in_ns(s, context));
    format!(
        "too few undisturbed samples ({} of {} workers have {})",
        spread::of_workers(&raw).len(),
        context.workers,
        spread::SAMPLES_PER_WORKER
    )
}

/// The figure of these quiet samples, and what its interval is over.
fn quiet(samples: &[&Sample], context: &Context) -> Option<(Quiet, Between)> {
    let ns_of = |s: &Sample| s.ns_per_op(context.ops_per_turn, context.ns_per_tick);
    let raw = spread::readings(samples.iter().copied(), ns_of);
    let workers = spread::of_workers(&raw).len();
    let (raw_ns, mut between) = known(&raw)?;
    let in_cycles: Option<Vec<Observation>> = samples
        .iter()
        .zip(&raw)
        .map(|(s, &reading)| {
            let value = reading.value / s.cycle_ns()?;
            Some(Observation { value, ..reading })
        })
        .collect();
    let cycles = in_cycles.and_then(|readings| known(&readings));
    let quiet = Quiet {
        samples: samples.len() as u32,
        workers: workers as u32,
        ..at_clock(raw_ns, cycles.map(|(cycles, _)| cycles), samples, context)
    };
    if let Some((_, of_cycles)) = cycles.filter(|_| quiet.at_run_clock) {
        between = of_cycles;
    }
    Some((quiet, between))
}

/// The figure with these intervals: in ns at the run's clock, where it is bound by the core.
fn at_clock(
    raw_ns: Interval,
    cycles: Option<Interval>,
    samples: &[&Sample],
    context: &Context,
) -> Quiet {
    let mut quiet = Quiet {
        ns: raw_ns,
        cycles,
        minimum_ns: context.shortest_ns(samples).unwrap_or(f64::INFINITY),
        samples: 0,
        workers: 0,
        at_run_clock: false,
        clock_movement: None,
        low_end: false,
    };
    if let (Bound::Core, Some(clock), Some(cycles)) = (context.bound, context.core_clock, cycles) {
        quiet.at_run_clock = true;
        quiet.clock_movement = clock.between_runs.map(|movement| movement.relative);
        quiet.ns = cycles.times(&clock.cycle_ns).widened(quiet.clock_movement.unwrap_or(0.0));
    }
    quiet
}

/// The mean of the workers' medians without the lowest and the highest, with
/// the wider of the intervals over workers and over stretches of time.
fn known(readings: &[Observation]) -> Option<(Interval, Between)> {
    let workers = stats::trimmed_t_interval(&spread::of_workers(readings))?;
    let (half, between) =
        spread::half_width(readings).unwrap_or((workers.half_width(), Between::Workers));
    let interval = Interval { low: workers.value - half, high: workers.value + half, ..workers };
    Some((interval, between))
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

/// The bound below which the figure can't be distinguished from 0, if it is
/// there: the interval holds 0 and is narrow (so the figure is known to be
/// small), or the figure is within three steps of the clock.
fn below_resolution(quiet: &Quiet, samples: &[&Sample], context: &Context) -> Option<f64> {
    let ops = stats::median(samples.iter().map(|s| s.turns as f64 * context.ops_per_turn))?;
    let step_ns = context.resolution_ns / ops;
    let cycle_ns = context.core_clock.map_or(0.4, |c| c.cycle_ns.value);
    let ns = quiet.ns_of_run();
    let near_zero = ns.low <= 0.0 && ns.half_width() < 0.1 * cycle_ns;
    let reach = ns.low.abs().max(ns.high.abs());
    (near_zero || ns.value.abs() < 3.0 * step_ns).then(|| reach.max(3.0 * step_ns))
}

fn broken_counter() -> (Verdict, String) {
    (Verdict::Invalid, "the clock ran backwards or stood still during a sample".into())
}

fn invalid(samples: &[Sample]) -> Option<(Verdict, String)> {
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
    None
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
    (robbed * 2 > ordinary(samples).count())
        .then(|| (Verdict::Invalid, "the measuring thread lost its CPU in most samples".into()))
}

/// Whether a figure of stamped operations, of one of their modes if it has that name, is in part a
/// wait for a CPU: it says what the scheduler's time slice is and what else ran, whatever its
/// interval.
fn runnable(
    figure_ns: f64,
    mode: Option<&str>,
    samples: &[&Sample],
    context: &Context,
) -> Option<(Verdict, String)> {
    let number = context.modes.iter().position(|name| Some(name.as_str()) == mode);
    let shown = |s: &Sample| number.is_none_or(|number| usize::from(s.evidence.mode) == number);
    let wait = cpu_wait::within(figure_ns, samples, shown, context)?;
    Some((Verdict::CannotTell, wait.to_string()))
}

/// How wide an interval may be, to either side, as a share of its figure.
#[derive(Clone, Copy)]
struct WidthLimits {
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
    limits: WidthLimits,
    what: &str,
    unit: &Unit,
) -> (Verdict, String) {
    let half = crate::figure::value_text(unit, interval.half_width());
    let small = interval.value.abs() < least;
    let width = match small {
        true => interval.half_width() / least,
        false => interval.relative_half_width(),
    };
    let reason = match small {
        true if *unit == Unit::Count => format!("{what} vary by ±{half} events"),
        true => format!("{what} vary by ±{half}"),
        // A percentage of a figure that may be nothing says nothing.
        false if width >= 1.0 => format!("{what} vary: the interval reaches 0"),
        false => format!("{what} vary by {}", share::half(width)),
    };
    if width > limits.cannot_tell_above {
        (Verdict::CannotTell, reason)
    } else if width > limits.noisy_above {
        (Verdict::Noisy, reason)
    } else {
        (Verdict::Ok, String::new())
    }
}
