//! What two runs of the same thing differ by beyond what each one's interval
//! says: another layout of code and pages, another state of the clock, other
//! neighbours. One run alone can't know it.

use super::ratio::Reading;
use crate::stats;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of figure it is that wanders between runs.
#[derive(
    Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
#[serde(rename_all = "snake_case")]
pub enum Wander {
    /// Quiet clock cycles: free of the clock and of most neighbours.
    Cycles,
    /// Quiet ns of memory and the kernel.
    Ns,
    /// Quiet ns of what is bound by the core: the clock's wandering is in it.
    NsOfCore,
    /// Medians of distributions: on several CPUs, long, or in modes.
    Distribution,
}

impl Wander {
    /// All of them.
    pub const ALL: [Wander; 4] = [
        Wander::Cycles,
        Wander::Ns,
        Wander::NsOfCore,
        Wander::Distribution,
    ];

    /// As printed.
    pub fn text(self) -> &'static str {
        match self {
            Wander::Cycles => "cycles",
            Wander::Ns => "ns",
            Wander::NsOfCore => "ns of core-bound rows",
            Wander::Distribution => "medians of distributions",
        }
    }

    /// The standard deviation between runs that is assumed at least, as a
    /// share of the figure.
    pub fn least(self) -> f64 {
        self.assumed().0
    }

    /// The least standard deviation, and the degrees of freedom that the whole
    /// assumption is worth beside kept runs. `docs/compare.md` says from which
    /// runs they are.
    fn assumed(self) -> (f64, f64) {
        match self {
            Wander::Cycles => (0.003, 6.0),
            Wander::Ns => (0.010, 6.0),
            Wander::NsOfCore => (0.050, 6.0),
            Wander::Distribution => (0.040, 4.0),
        }
    }

    /// The variance (of the logarithm) that one run's figure is assumed to
    /// have among runs: the least of its kind, its own over workers, and as
    /// much again, since where processes of one run disagree, runs do too.
    pub fn among_runs(self, reading: &Reading) -> f64 {
        self.least().powi(2) + 2.0 * reading.within.value
    }
}

/// By how much more (or less) a row's runs differ than was assumed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion {
    /// Of the variance; 1 is as assumed.
    pub factor: f64,
    /// How well it is known.
    pub df: f64,
}

/// The dispersion of a row, from groups of runs that should have come out
/// alike: the squares of what they really differed by over what was assumed
/// (Birge's ratio, Phys. Rev. 40, 1932, 207-227), moderated by the assumption
/// as Smyth's moderated t does (Stat. Appl. Genet. Mol. Biol. 3, 2004,
/// article 3). Without such runs it is 1; with many it is theirs.
pub fn dispersion(wander: Wander, groups: &[Vec<Reading>]) -> Dispersion {
    let (_, assumed_df) = wander.assumed();
    let (mut squares, mut df) = (0.0, 0.0);
    for group in groups {
        let weights: Vec<f64> = group.iter().map(|r| 1.0 / wander.among_runs(r)).collect();
        let total: f64 = weights.iter().sum();
        let pairs = || group.iter().zip(&weights);
        let mean = pairs().map(|(r, w)| r.ln * w).sum::<f64>() / total;
        squares += pairs().map(|(r, w)| w * (r.ln - mean).powi(2)).sum::<f64>();
        df += group.len().saturating_sub(1) as f64;
    }
    Dispersion {
        factor: (assumed_df + squares) / (assumed_df + df),
        df: assumed_df + df,
    }
}

/// The standard deviation that runs of these groups really had about their
/// group's mean, as a share of the figure; `None` without two runs of one.
pub fn seen(groups: &[Vec<Reading>]) -> Option<f64> {
    let (mut squares, mut df) = (0.0, 0_usize);
    for group in groups {
        let all: Vec<f64> = group.iter().map(|r| r.ln).collect();
        let Some(deviation) = stats::standard_deviation(&all) else {
            continue;
        };
        squares += deviation * deviation * (all.len() - 1) as f64;
        df += all.len() - 1;
    }
    (df > 0).then(|| (squares / df as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::ratio::Variance;

    fn reading(ln: f64, within: f64) -> Reading {
        Reading {
            ln,
            within: Variance {
                value: within,
                df: 7.0,
            },
        }
    }

    #[test]
    fn without_other_runs_it_is_the_assumption() {
        let assumed = dispersion(Wander::Ns, &[]);
        assert_eq!((assumed.factor, assumed.df), (1.0, 6.0));
        let alone = vec![reading(3.0, 1e-6)];
        assert_eq!(dispersion(Wander::Ns, &[alone, Vec::new()]), assumed);
    }

    #[test]
    fn kept_runs_weigh_by_their_number() {
        // Least 1 %: squares 2 * 0.1^2 / 1e-4 = 200 with two degrees.
        let group = vec![reading(1.0, 0.0), reading(1.1, 0.0), reading(0.9, 0.0)];
        let found = dispersion(Wander::Ns, std::slice::from_ref(&group));
        assert!((found.factor - 206.0 / 8.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.df, 8.0);
        // Of a machine of another speed only what its own runs differ by.
        let other: Vec<Reading> = group.iter().map(|r| reading(r.ln + 5.0, 0.0)).collect();
        let both = dispersion(Wander::Ns, &[group.clone(), other]);
        assert!((both.factor - 406.0 / 10.0).abs() < 1e-9, "{both:?}");
        let deviation = seen(&[group]).expect("three runs");
        assert!((deviation - 0.1).abs() < 1e-12);
        assert_eq!(seen(&[vec![reading(1.0, 0.0)]]), None);
    }

    #[test]
    fn a_run_that_knows_little_weighs_little() {
        // The second says of itself that it may be off by 14 %.
        let group = |within| vec![reading(1.0, 0.0), reading(1.1, within), reading(1.0, 0.0)];
        let sure = dispersion(Wander::Ns, &[group(0.0)]);
        let unsure = dispersion(Wander::Ns, &[group(0.01)]);
        assert!(sure.factor > 8.0, "{sure:?}");
        assert!(unsure.factor < 1.0, "{unsure:?}");
    }

    #[test]
    fn rows_whose_workers_disagree_are_assumed_to_wander_as_much() {
        for wander in Wander::ALL {
            let least = wander.least().powi(2);
            assert_eq!(wander.among_runs(&reading(1.0, 0.0)), least);
            let rough = wander.among_runs(&reading(1.0, 0.01));
            assert!((rough - least - 0.02).abs() < 1e-12);
        }
    }
}
