//! The engine of change: two sets of samples with what is independent in them, questions that are asked together, and
//! what may be said of each: different, the same within noise, or neither (inconclusive).

use super::multiplicity::{Hypothesis, benjamini_hochberg, families, holm};
use crate::stats::Interval;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Of the rows that are called different at most this share is expected to be
/// called so wrongly; and with no difference anywhere, in at most this share
/// of comparisons any row is (simulated with up to four runs a side: 2 to 5 %,
/// `tests/power.rs`; with eight 6 %). Also the level at which a gate is crossed.
pub const LEVEL: f64 = 0.05;

/// The level of rounds that are looked at after each one: the chance that any of a row's intervals misses its ratio.
pub const WATCHED_LEVEL: f64 = 0.01;

/// The share of changes of the size called detectable that are found.
pub const POWER: f64 = 0.8;

/// What may be said of a change, and there are no other answers. Which way it goes is the ratio's to say.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The ratio is not 1; of a question about a range: all of it lies outside.
    Different,
    /// No difference was shown, and one beyond the margin would have been.
    SameWithinNoise,
    /// Neither.
    #[serde(rename = "inconclusive", alias = "cannot_tell")]
    CannotTell,
}

impl Verdict {
    /// As printed.
    pub fn printed(self) -> &'static str {
        match self {
            Verdict::Different => "different",
            Verdict::SameWithinNoise => "same within noise",
            Verdict::CannotTell => "inconclusive",
        }
    }

    /// Of a value with its interval: different if all of it lies beyond what is `alike`, the same if none does.
    pub fn of_range(interval: Option<&Interval>, alike: RangeInclusive<f64>) -> Verdict {
        Verdict::from_interval(interval.is_some_and(|i| is_beyond(i, &alike)), interval, &alike)
    }

    /// Of a difference: the same if its interval holds 0, and reaches no farther than `most` to either side.
    pub fn of_difference(apart: &Interval, most: f64) -> Verdict {
        match apart.excludes_zero() {
            true => Verdict::Different,
            false if apart.half_width() > most => Verdict::CannotTell,
            false => Verdict::SameWithinNoise,
        }
    }

    /// Where it is known whether a difference was shown.
    pub(super) fn from_interval(
        different: bool,
        interval: Option<&Interval>,
        alike: &RangeInclusive<f64>,
    ) -> Verdict {
        match interval {
            _ if different => Verdict::Different,
            Some(i) if alike.contains(&i.low) && alike.contains(&i.high) => {
                Verdict::SameWithinNoise
            }
            _ => Verdict::CannotTell,
        }
    }
}

/// Whether all of the interval lies to one side of a range.
pub(super) fn is_beyond(interval: &Interval, range: &RangeInclusive<f64>) -> bool {
    interval.low > *range.end() || interval.high < *range.start()
}

/// Why a verdict is what it is, where there are several ways to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Too few samples to show any difference.
    TooFew,
    /// Enough samples to show a difference, and none shown.
    NotShown,
    /// It is something else altogether, or does something else.
    Another,
    /// The samples were disturbed.
    Disturbed,
    /// It takes longer.
    Slower,
}

/// The answer to one question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// The second over the first, or the difference of counts, with its interval; absent where there are too few
    /// samples for one.
    pub ratio: Option<Interval>,
    /// The chance of such samples where nothing changed.
    pub p_value: Option<f64>,
    /// What may be said.
    pub verdict: Verdict,
    /// Why no more may be said, where that is so.
    pub reason: Option<Reason>,
}

impl Finding {
    /// Whether a difference was shown.
    pub fn is_different(&self) -> bool {
        self.verdict == Verdict::Different
    }
}

/// Two sets of samples with what is independent in them: runs, interleaved rounds, hosts.
pub trait Samples {
    /// The value where nothing changed: 1 of a ratio, 0 of a difference.
    fn unchanged(&self) -> f64 {
        1.0
    }

    /// The chance of such samples where nothing changed; `None` where they can't be tested.
    fn p_value(&self) -> Option<f64>;

    /// The second over the first (or less the first) with its interval; `None` where there are too few samples, or
    /// it is not asked for.
    fn interval(&self, _level: f64) -> Option<Interval> {
        None
    }

    /// How well the value is known, for [`Correction::ByPrecision`].
    fn precision(&self) -> Option<Hypothesis> {
        None
    }
}

/// Samples of which only what they say is left: the chance, and an interval of one level.
#[derive(Clone, Copy, Debug)]
pub struct SummarizedSamples(pub Option<f64>, pub Option<Interval>);

impl Samples for SummarizedSamples {
    fn p_value(&self) -> Option<f64> {
        self.0
    }

    fn interval(&self, _: f64) -> Option<Interval> {
        self.1
    }
}

/// How questions that are asked together share the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Correction {
    /// As many have an equal part of it each: different is what its interval excludes.
    Bonferroni(usize),
    /// The same of rounds that were looked at after each one ([`crate::sequential`]), at [`WATCHED_LEVEL`].
    Watched(usize),
    /// With no difference anywhere any is called different with this chance at most, whatever the others are (Holm).
    Holm(f64),
    /// Of those called different at most this share is expected to be so wrongly (Benjamini and Hochberg); the
    /// intervals are of each question alone.
    FalseDiscoveries,
    /// The same, with intervals as wide as that asks for (Benjamini and
    /// Yekutieli, J. Am. Stat. Assoc. 100, 2005, 71-81: level 1 - q R / m where R
    /// of m are significant), so that one holds no difference exactly where none is shown.
    FalseCoverage,
    /// The same in each family of rows, the level spent where a change is in doubt (`multiplicity::families`); all of them have
    /// a precision.
    ByPrecision,
}

/// The one engine of change: what may be said of each of these questions, which are asked together. A question that
/// can't be tested stays among them: leaving it out would make the others seem fewer. Where no difference was shown,
/// and the interval lies within `margin` of 1, a ratio is the same.
pub fn judge<'s, S: Samples + ?Sized + 's>(
    all: impl IntoIterator<Item = &'s S>,
    correction: Correction,
    margin: Option<f64>,
) -> Vec<Finding> {
    let all: Vec<&S> = all.into_iter().collect();
    let p_values: Vec<Option<f64>> = all.iter().map(|samples| samples.p_value()).collect();
    let tested: Vec<f64> = p_values.iter().map(|p| p.unwrap_or(1.0)).collect();
    let (marks, level) = match correction {
        Correction::Bonferroni(questions) => (Vec::new(), LEVEL / questions.max(1) as f64),
        Correction::Watched(questions) => (Vec::new(), WATCHED_LEVEL / questions.max(1) as f64),
        Correction::Holm(level) => (holm(&tested, level), level),
        Correction::FalseDiscoveries => (benjamini_hochberg(&tested, LEVEL), LEVEL),
        Correction::FalseCoverage => {
            let marks = benjamini_hochberg(&tested, LEVEL);
            let different = marks.iter().filter(|mark| **mark).count().max(1);
            (marks, LEVEL * different as f64 / all.len().max(1) as f64)
        }
        Correction::ByPrecision => {
            let known: Vec<Hypothesis> = all.iter().filter_map(|own| own.precision()).collect();
            (families(&known, LEVEL), LEVEL)
        }
    };
    let finding = |(at, samples): (usize, &&S)| {
        let ratio = samples.interval(1.0 - level);
        let unchanged = samples.unchanged();
        let excluded = ratio.is_some_and(|ratio| is_beyond(&ratio, &(unchanged..=unchanged)));
        let different = match correction {
            Correction::Bonferroni(_) | Correction::Watched(_) => excluded,
            Correction::FalseCoverage => marks[at] && ratio.is_some(),
            _ => marks[at],
        };
        let verdict = match margin.map(within) {
            // Its own interval excludes 1, which among so many is no difference.
            Some(_) if correction == Correction::FalseDiscoveries && excluded && !different => {
                Verdict::CannotTell
            }
            Some(alike) => Verdict::from_interval(different, ratio.as_ref(), &alike),
            None if different => Verdict::Different,
            None => Verdict::CannotTell,
        };
        let reason = (verdict == Verdict::CannotTell).then_some(match ratio {
            None => Reason::TooFew,
            Some(_) => Reason::NotShown,
        });
        Finding { ratio, p_value: p_values[at], verdict, reason }
    };
    all.iter().enumerate().map(finding).collect()
}

/// What lies within a margin of 1, a share of the one or the other.
pub(super) fn within(margin: f64) -> RangeInclusive<f64> {
    1.0 / (1.0 + margin)..=1.0 + margin
}
