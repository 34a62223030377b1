//! Whether the samples of a row support its quiet figure.
//!
//! The canaries select the quiet samples, and the adds of the same canaries
//! measure the cycles of a row bound by the core. So adds that read long make a
//! sample look quiet (branches over adds fall) and its figure small. Where most
//! samples are disturbed, those that pass may be the misread ones, with a narrow
//! interval about a value that is too low. Three checks:
//!
//! - **Multiplications.** One takes a whole number of adds on an undisturbed core,
//!   so it must in visits of quiet samples: 2.9 instead of 3 means that the adds,
//!   and the cycles with them, read 3.4 % long.
//! - **Disturbed samples of the same visit.** They have the same clock, and a
//!   neighbour on the core slows their adds. So quiet samples read cycles that are
//!   shorter or the same, never longer.
//! - **The distribution.** Of the ordinary samples that are quiet, half are at or
//!   below the figure, and disturbed ones take at least as long as quiet ones
//!   (except in the difference of two loops: a neighbour may slow U more than 2U,
//!   and [`crate::loop_cost`] checks those).
//!
//! A quiet figure below nearly all ordinary samples is not biased for that: with a
//! busy neighbour nearly all of them are slower, by 1.05 to 2 times.

use crate::context::Context;
use crate::estimate::{Estimate, Quiet, SAMPLES_IN_ALL, Verdict};
use crate::figure::number_of_digits;
use crate::row_kind::Bound;
use crate::sample::{Sample, flag};
use crate::share::percent;
use crate::spread::visit;
use crate::stats::{self, Interval};
use std::collections::BTreeMap;
use std::fmt;

/// Canaries read the clock no better than this.
const CLOCK_WITHIN: f64 = 0.01;
/// Visits that their clock is compared in, at least.
const VISITS: usize = 5;
/// Ordinary samples this much above the figure's interval still support it.
const REACH: f64 = 0.005;
/// Disturbed samples that take less than this share of the quiet figure contradict it: their cycles
/// come out up to 3 % too low, as the neighbour slows the adds.
const LESS: f64 = 0.95;

/// What speaks against a quiet figure. Figures are in cycles for rows bound by
/// the core, else in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bias {
    /// The figure by another clock lies outside of its interval.
    Clock {
        /// Which clock.
        by: OtherClock,
        /// The figure.
        cycles: f64,
        /// The figure by that clock.
        other_cycles: f64,
    },
    /// Hardly any ordinary sample reaches down to the figure.
    Below {
        /// The figure.
        value: Interval,
        /// Whether in cycles.
        cycles: bool,
        /// Share of the ordinary samples that reach it.
        reached: f64,
        /// Share of them that are quiet.
        quiet_share: f64,
    },
    /// Most disturbed samples take less time.
    Above {
        /// The figure.
        value: Interval,
        /// Whether in cycles.
        cycles: bool,
        /// Median of the disturbed samples.
        disturbed: f64,
    },
}

/// Another clock for the same samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherClock {
    /// Multiplications, a whole number of cycles each.
    Multiplications,
    /// That of disturbed samples of the same visits.
    Disturbed,
}

impl fmt::Display for Bias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: f64, cycles: bool| {
            let unit = if cycles { "cycles" } else { "ns" };
            format!("{} {unit}", number_of_digits(value, 0.0))
        };
        match *self {
            Bias::Clock { by, cycles, other_cycles } => {
                let of = match by {
                    OtherClock::Multiplications => "timed by multiplications instead of adds",
                    OtherClock::Disturbed => "by the clock of disturbed samples next to them",
                };
                write!(
                    f,
                    "undisturbed samples take {}, {} {of}",
                    text(cycles, true),
                    text(other_cycles, true)
                )
            }
            Bias::Below { value, cycles, reached, quiet_share } => write!(
                f,
                "{} of samples take {} or less, though {} are undisturbed",
                percent(reached),
                text(value.value, cycles),
                percent(quiet_share)
            ),
            Bias::Above { value, cycles, disturbed } => write!(
                f,
                "undisturbed samples take {}, disturbed ones only {}",
                text(value.value, cycles),
                text(disturbed, cycles)
            ),
        }
    }
}

/// Lowers the verdict of a quiet figure that its samples don't support. One that
/// is worse already stays.
pub(crate) fn weigh(estimate: &mut Estimate, samples: &[Sample], context: &Context) {
    let judged = matches!(estimate.verdict, Verdict::Ok | Verdict::Noisy);
    let Some(quiet) = estimate.quiet.filter(|_| judged && estimate.below_ns.is_none()) else {
        return;
    };
    if let Some(bias) = bias(&quiet, samples, context) {
        estimate.verdict = Verdict::Biased;
        estimate.reason = bias.to_string();
    }
}

/// What speaks against this quiet figure of these samples, if anything does.
pub fn bias(quiet: &Quiet, samples: &[Sample], context: &Context) -> Option<Bias> {
    let judged: Vec<(&Sample, bool)> = samples.iter().zip(context.gate.quiet(samples)).collect();
    let of_clock = quiet
        .cycles
        .filter(|_| context.bound == Bound::Core)
        .and_then(|cycles| of_clock(&cycles, &judged, context));
    of_clock.or_else(|| of_distribution(quiet, &judged, context))
}

/// The figure by another clock, where that lies outside of its interval.
fn of_clock(cycles: &Interval, judged: &[(&Sample, bool)], context: &Context) -> Option<Bias> {
    let mut visits = Visits::new();
    for &(sample, quiet) in judged {
        let of = visit(sample.worker, sample.at_ms);
        visits.entry(of).or_default().push((sample, quiet));
    }
    let clocks = [
        (OtherClock::Multiplications, by_multiplications(&visits, context)),
        (OtherClock::Disturbed, by_disturbed(&visits)),
    ];
    clocks.into_iter().find_map(|(by, factor)| {
        let factor = factor.filter(|factor| factor.ln() > CLOCK_WITHIN)?;
        let other_cycles = cycles.value * factor;
        (other_cycles > cycles.high).then_some(Bias::Clock {
            by,
            cycles: cycles.value,
            other_cycles,
        })
    })
}

/// Samples by visit, and whether each is quiet.
type Visits<'s> = BTreeMap<u64, Vec<(&'s Sample, bool)>>;

/// By how much more cycles the quiet samples take where a multiplication is a
/// whole number of them.
fn by_multiplications(visits: &Visits, context: &Context) -> Option<f64> {
    let of_visit = |visit: &Vec<(&Sample, bool)>| {
        let quiet = visit.iter().find(|(_, quiet)| *quiet)?;
        let permille = quiet.0.evidence.canaries?.multiply_permille;
        Some(f64::from(permille) / 1000.0)
    };
    let ratios: Vec<f64> = visits.values().filter_map(of_visit).collect();
    let ratio = stats::median(ratios.iter().copied()).filter(|_| ratios.len() >= VISITS)?;
    // The run's own says which whole number, where it has one.
    let whole = context.gate.multiply_ratio.unwrap_or(ratio).round().max(1.0);
    (ratio > 0.0).then(|| whole / ratio)
}

/// By how much longer quiet samples read a cycle than disturbed ones of the same
/// visit.
fn by_disturbed(visits: &Visits) -> Option<f64> {
    let mut factors = Vec::new();
    let mut mixed = 0;
    for visit in visits.values() {
        let cycles = |wanted: bool| {
            let of_kind = visit.iter().filter(move |(sample, quiet)| {
                let broken = sample.evidence.flags & !flag::WAITED_FOR_QUIET != 0;
                *quiet == wanted && !broken && sample.evidence.lost_ns == 0
            });
            of_kind.filter_map(|(sample, _)| sample.cycle_ns())
        };
        let Some(disturbed) = stats::median(cycles(false)).filter(|cycle| *cycle > 0.0) else {
            continue;
        };
        let before = factors.len();
        factors.extend(cycles(true).map(|cycle| cycle / disturbed));
        mixed += usize::from(factors.len() > before);
    }
    let enough = mixed >= VISITS && factors.len() >= SAMPLES_IN_ALL;
    stats::median(factors).filter(|_| enough)
}

/// Where the figure lies among the ordinary samples.
fn of_distribution(quiet: &Quiet, judged: &[(&Sample, bool)], context: &Context) -> Option<Bias> {
    let cycles = context.bound == Bound::Core && quiet.cycles.is_some();
    let figure = quiet.cycles_or_ns(context.bound);
    if figure.low <= 0.0 {
        return None;
    }
    let ordinary = judged.iter().filter(|(s, _)| !s.has(flag::WAITED_FOR_QUIET));
    let known: Vec<(f64, f64, bool)> = ordinary
        .filter_map(|&(s, quiet)| Some((context.cost(s, cycles)?, context.cost(s, false)?, quiet)))
        .collect();
    let all = known.len();
    let calm = known.iter().filter(|(.., quiet)| *quiet).count();
    let reach = figure.high * (1.0 + REACH);
    let reached = known.iter().filter(|(value, ..)| *value <= reach).count();
    // Half of them are expected, a quarter at least.
    if calm >= SAMPLES_IN_ALL && reached * 4 < calm {
        return Some(Bias::Below {
            value: figure,
            cycles,
            reached: reached as f64 / all as f64,
            quiet_share: calm as f64 / all as f64,
        });
    }
    let median = |wanted: bool, of: fn(&(f64, f64, bool)) -> f64| {
        let of_kind = known.iter().filter(|(.., quiet)| *quiet == wanted);
        stats::median(of_kind.map(of))
    };
    let (disturbed, quiet_ns) = (median(false, |k| k.0)?, median(true, |k| k.1)?);
    let one_loop = judged.iter().all(|(s, _)| s.second_ticks.is_none());
    // In ns too, since a neighbour that takes the core for a while makes cycles read long.
    let is_less = disturbed < figure.low * LESS && median(false, |k| k.1)? < quiet_ns * LESS;
    let enough = calm.min(all - calm) >= SAMPLES_IN_ALL;
    (one_loop && is_less && enough).then_some(Bias::Above { value: figure, cycles, disturbed })
}
