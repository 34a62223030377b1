//! Which of a row's figures are set against each other: like with like.

use super::between::{Wander, variance};
use super::reading::{Reading, Repeats};
use crate::core_clock::deviation;
use crate::estimate::{Estimate, Quiet};
use crate::run::Bound;
use crate::stats::Interval;
use serde::{Deserialize, Serialize};

/// The figure that is compared.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Cycles on the quiet machine.
    QuietCycles,
    /// ns on the quiet machine.
    QuietNs,
    /// ns, the median of everything, or of the mode to show first where modes lie
    /// apart.
    TypicalNs,
    /// ns, the 10 % quantile of everything: of a distribution whose median
    /// wanders from run to run more than that does ([`steadier`]).
    TypicalP10,
}

impl Measure {
    /// In words: `quiet cycles`, `quiet`, `typical`, `10 % quantile`.
    pub fn label(self) -> &'static str {
        match self {
            Measure::QuietCycles => "quiet cycles",
            Measure::QuietNs => "quiet",
            Measure::TypicalNs => "typical",
            Measure::TypicalP10 => "10 % quantile",
        }
    }
}

/// Degrees of freedom that kept runs must have (one less than their number)
/// before they may say which quantile of a row is the steadier one.
const FEWEST: f64 = 3.0;
/// The 10 % quantile is compared where its variance among kept runs is less than
/// this part of the median's: clearly less, since the smaller of two uncertain
/// variances is rather too small.
const CLEARLY: f64 = 0.5;

/// The quantile of a distribution that is compared: the median, or the 10 %
/// quantile where kept runs differ clearly less by that. `kept` gives their
/// readings; the two runs that are compared have no say in it.
pub fn steadier(measure: Measure, kept: &dyn Fn(Measure) -> Vec<Vec<Reading>>) -> Measure {
    if measure != Measure::TypicalNs {
        return measure;
    }
    let among_runs = |measure| variance(&kept(measure));
    match (among_runs(Measure::TypicalNs), among_runs(Measure::TypicalP10)) {
        (Some(median), Some(low))
            if low.df >= FEWEST && low.df == median.df && low.value < CLEARLY * median.value =>
        {
            Measure::TypicalP10
        }
        _ => measure,
    }
}

impl Measure {
    /// The best one that all these estimates have: quiet before typical, since
    /// that does not depend on how often neighbours came by; cycles before ns
    /// for what is bound by cores that are alike, since their clocks wander.
    pub fn shared(estimates: &[&Estimate], bound: Bound, cores_alike: bool) -> Option<Measure> {
        let all = |measure: &Measure| estimates.iter().all(|e| measure.interval(e).is_some());
        [Measure::QuietCycles, Measure::QuietNs, Measure::TypicalNs]
            .into_iter()
            .filter(|&m| m != Measure::QuietCycles || (cores_alike && bound == Bound::Core))
            .find(all)
    }

    /// The figure of an estimate; `None` where it has none, or one below
    /// resolution.
    pub fn interval(self, estimate: &Estimate) -> Option<Interval> {
        if estimate.below_ns.is_some() {
            return None;
        }
        match self {
            Measure::QuietCycles => estimate.quiet.and_then(|q| q.cycles),
            Measure::QuietNs => estimate.quiet.map(|q| q.ns),
            Measure::TypicalNs => estimate.headline().map(|(t, _)| t.ns),
            Measure::TypicalP10 => estimate.typical.map(|t| Interval {
                value: t.p10_ns,
                low: t.p10_ns,
                high: t.p10_ns,
            }),
        }
    }

    /// The figure with its spread. `repeats` is what a typical figure's
    /// interval is from; a quiet one knows its own.
    pub fn reading(self, estimate: &Estimate, repeats: Repeats) -> Option<Reading> {
        let repeats = match self {
            // A document has no interval of it: it is assumed to be known as well as
            // the median.
            Measure::TypicalP10 => {
                let median = Measure::TypicalNs.reading(estimate, repeats)?;
                let low = self.interval(estimate)?.value;
                return (low > 0.0).then(|| Reading { ln: low.ln(), ..median });
            }
            Measure::QuietNs => return of_quiet_ns(self.interval(estimate), estimate.quiet?),
            Measure::TypicalNs => repeats,
            Measure::QuietCycles => Repeats::independent(estimate.quiet?.workers),
        };
        Reading::of_repeats(&self.interval(estimate)?, repeats)
    }

    /// How such a figure wanders between runs.
    pub fn wander(self, bound: Bound) -> Wander {
        match (self, bound) {
            (Measure::QuietCycles, _) => Wander::Cycles,
            (Measure::QuietNs, Bound::Memory) => Wander::Ns,
            (Measure::QuietNs, Bound::Core) => Wander::NsOfCore,
            (Measure::TypicalNs | Measure::TypicalP10, _) => Wander::Distribution,
        }
    }
}

/// A quiet figure in ns with its spread within the run. What the clock moves
/// between runs is in the variance among runs ([`Wander::NsOfCore`]), so the
/// interval that includes it would count it twice; where the document knows of
/// more than is assumed there, the rest is added (half, since it counts twice).
fn of_quiet_ns(shown: Option<Interval>, quiet: Quiet) -> Option<Reading> {
    shown?;
    let mut reading = Reading::of_repeats(&quiet.ns_of_run(), Repeats::independent(quiet.workers))?;
    let moved = quiet.clock_movement.map_or(0.0, deviation);
    let assumed = Wander::NsOfCore.least();
    reading.within.value += (moved * moved - assumed * assumed).max(0.0) / 2.0;
    Some(reading)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::reading::Variance;
    use crate::estimate::{Typical, Verdict};

    fn tight_interval(value: f64) -> Interval {
        Interval { value, low: value * 0.9, high: value * 1.2 }
    }

    fn gated() -> Estimate {
        Estimate {
            quiet: Some(Quiet {
                ns: tight_interval(2.0),
                cycles: Some(tight_interval(8.0)),
                minimum_ns: 1.9,
                samples: 80,
                workers: 8,
                at_run_clock: false,
                clock_movement: None,
                low_end: false,
            }),
            ..stamped()
        }
    }

    fn stamped() -> Estimate {
        Estimate::bare(
            Some(Typical { ns: tight_interval(3.0), p10_ns: 2.0, p90_ns: 4.0, samples: 100 }),
            Verdict::Ok,
        )
    }

    #[test]
    fn like_is_set_against_like() {
        use Measure::*;
        let of = |a: &Estimate, b: &Estimate, bound, alike| Measure::shared(&[a, b], bound, alike);
        let (g, s) = (gated(), stamped());
        assert_eq!(of(&g, &g, Bound::Core, true), Some(QuietCycles));
        assert_eq!(of(&g, &g, Bound::Core, false), Some(QuietNs));
        assert_eq!(of(&g, &g, Bound::Memory, true), Some(QuietNs));
        assert_eq!(of(&g, &s, Bound::Core, true), Some(TypicalNs));
        let mut without = gated();
        without.quiet = without.quiet.map(|q| Quiet { cycles: None, ..q });
        assert_eq!(of(&g, &without, Bound::Core, true), Some(QuietNs));
        let mut below = gated();
        below.below_ns = Some(0.1);
        assert_eq!(of(&g, &below, Bound::Core, true), None);
    }

    #[test]
    fn kept_runs_choose_the_steadier_quantile() {
        let runs = |wander: f64| -> Vec<Vec<Reading>> {
            let ln = [0.0, wander, -wander, wander / 2.0];
            let within = Variance { value: 0.0, df: 7.0 };
            vec![ln.map(|ln| Reading { ln, within }).to_vec()]
        };
        let chosen = |median: f64, low: f64| {
            steadier(Measure::TypicalNs, &|measure| match measure {
                Measure::TypicalP10 => runs(low),
                _ => runs(median),
            })
        };
        assert_eq!(chosen(0.18, 0.08), Measure::TypicalP10);
        assert_eq!(chosen(0.10, 0.09), Measure::TypicalNs, "not clearly");
        assert_eq!(chosen(0.05, 0.09), Measure::TypicalNs);
        assert_eq!(steadier(Measure::QuietNs, &|_| runs(0.0)), Measure::QuietNs);
        let two = |measure| match measure {
            Measure::TypicalP10 => vec![runs(0.01)[0][..3].to_vec()],
            _ => vec![runs(0.2)[0][..3].to_vec()],
        };
        assert_eq!(steadier(Measure::TypicalNs, &two), Measure::TypicalNs, "few runs");
    }

    #[test]
    fn a_lopsided_interval_counts_by_its_longer_side() {
        let of = |measure: Measure, estimate: &Estimate, workers| {
            let repeats = Repeats::independent(workers);
            measure.reading(estimate, repeats).expect("a figure")
        };
        let reading = of(Measure::TypicalNs, &stamped(), 8);
        let deviation: f64 = 0.2 / crate::stats::t_quantile_975(7);
        assert!((reading.within.value - deviation.powi(2)).abs() < 1e-12);
        assert_eq!(reading.within.df, 7.0);
        // A quiet figure knows how many workers it is of.
        let quiet = of(Measure::QuietNs, &gated(), 3);
        assert_eq!(quiet.within.df, 7.0);
    }

    #[test]
    fn the_clocks_movement_counts_once_among_runs_and_never_in_cycles() {
        let moving = |relative: f64| {
            let mut estimate = gated();
            let quiet = estimate.quiet.as_mut().expect("quiet");
            quiet.ns = quiet.ns.widened(relative);
            quiet.clock_movement = Some(relative);
            estimate
        };
        let of = |measure: Measure, estimate: &Estimate| {
            let reading = measure.reading(estimate, Repeats::independent(8));
            reading.expect("a figure").within.value
        };
        let still = of(Measure::QuietNs, &gated());
        // As much as is assumed of core-bound rows: the variance is what it was.
        for relative in [0.01, 0.08, 0.13] {
            let found = of(Measure::QuietNs, &moving(relative));
            assert!((found / still - 1.0).abs() < 1e-9, "{relative}: {found}");
        }
        // A clock that moves more than that makes the variance among runs its own.
        let wild = moving(0.30);
        let reading = Measure::QuietNs.reading(&wild, Repeats::independent(8));
        let among = Wander::NsOfCore.among_runs(&reading.expect("a figure"));
        let expected = (0.30 / (1.96 * 2.0_f64.sqrt())).powi(2) + 2.0 * still;
        assert!((among - expected).abs() < 1e-9, "{among} {expected}");
        let cycles = of(Measure::QuietCycles, &gated());
        assert_eq!(of(Measure::QuietCycles, &wild), cycles);
    }
}
