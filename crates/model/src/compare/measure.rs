//! Which of a row's figures are set against each other: like with like.

use super::between::Wander;
use super::ratio::{Reading, Repeats};
use crate::estimate::Estimate;
use crate::run::Bound;
use crate::stats::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The figure that is compared.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Cycles on the quiet machine.
    QuietCycles,
    /// ns on the quiet machine.
    QuietNs,
    /// ns, the median of everything.
    TypicalNs,
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
            Measure::TypicalNs => estimate.typical.map(|t| t.ns),
        }
    }

    /// The figure with its spread. `repeats` is what a typical figure's
    /// interval is from; a quiet one knows its own.
    pub fn reading(self, estimate: &Estimate, repeats: Repeats) -> Option<Reading> {
        let repeats = match self {
            Measure::TypicalNs => repeats,
            Measure::QuietCycles | Measure::QuietNs => {
                Repeats::independent(estimate.quiet?.workers)
            }
        };
        Reading::of_repeats(&self.interval(estimate)?, repeats)
    }

    /// How such a figure wanders between runs.
    pub fn wander(self, bound: Bound) -> Wander {
        match (self, bound) {
            (Measure::QuietCycles, _) => Wander::Cycles,
            (Measure::QuietNs, Bound::Memory) => Wander::Ns,
            (Measure::QuietNs, Bound::Core) => Wander::NsOfCore,
            (Measure::TypicalNs, _) => Wander::Distribution,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::Typical;
    use crate::estimate::{Quiet, Verdict};

    fn interval(value: f64) -> Interval {
        Interval {
            value,
            low: value * 0.9,
            high: value * 1.2,
        }
    }

    fn gated() -> Estimate {
        Estimate {
            quiet: Some(Quiet {
                ns: interval(2.0),
                cycles: Some(interval(8.0)),
                minimum_ns: 1.9,
                samples: 80,
                workers: 8,
            }),
            ..stamped()
        }
    }

    fn stamped() -> Estimate {
        Estimate {
            quiet: None,
            typical: Some(Typical {
                ns: interval(3.0),
                p10_ns: 2.0,
                p90_ns: 4.0,
                samples: 100,
            }),
            tail: None,
            modes: Vec::new(),
            quiet_share: None,
            below_ns: None,
            verdict: Verdict::Ok,
            reason: String::new(),
        }
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
}
