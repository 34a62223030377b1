//! Rows of runs as questions: which may be called different at all, and with which others they are tested.

use super::finding::{Correction, LEVEL, POWER, Samples, Verdict, judge};
use super::multiplicity::{Family, Hypothesis, levels};
use super::ratio::{Ratio, detectable};
use crate::estimate;
use crate::stats::Interval;

/// How much a row's own verdicts let a comparison say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// All are ok, noisy or biased: the interval speaks.
    Interval,
    /// One has two states, or too little was seen: its interval is of a
    /// mixture. `apart` if even the middle 80 % of all that was seen on one
    /// side lie above those of the other: then they differ whichever states
    /// are compared.
    Mixture {
        /// Whether the two don't overlap.
        apart: bool,
    },
    /// One does not measure what the row says, or is no figure at all.
    Nothing,
}

impl Support {
    /// From the verdicts of all runs on both sides.
    pub fn from_verdicts(verdicts: &[estimate::Verdict], apart: bool) -> Support {
        let any = |wanted: &[estimate::Verdict]| verdicts.iter().any(|v| wanted.contains(v));
        if any(&[estimate::Verdict::Invalid]) {
            Support::Nothing
        } else if any(&[estimate::Verdict::TwoStates, estimate::Verdict::CannotTell]) {
            Support::Mixture { apart }
        } else {
            Support::Interval
        }
    }

    /// The same of rows that are compared `by_state`: by the figure of one mode that
    /// all runs name alike, or by the 10 % quantile, which is of the faster of two
    /// states where kept runs say that it stays there. No mixture has a part in it.
    pub fn of_compared(verdicts: &[estimate::Verdict], apart: bool, by_state: bool) -> Support {
        let counts = |v: &&estimate::Verdict| !by_state || **v != estimate::Verdict::TwoStates;
        let rest: Vec<estimate::Verdict> = verdicts.iter().filter(counts).copied().collect();
        Support::from_verdicts(&rest, apart)
    }

    fn allows_different(self) -> bool {
        matches!(self, Support::Interval | Support::Mixture { apart: true })
    }
}

/// One row that is tested together with others.
#[derive(Clone, Copy, Debug)]
pub struct Tested<'a> {
    /// Its ratio.
    pub ratio: &'a Ratio,
    /// What may be said.
    pub support: Support,
    /// Which rows it is tested with.
    pub family: Family,
}

impl Tested<'_> {
    /// A row that may not be called different stays among those that were
    /// looked at: leaving it out would make the others seem fewer.
    fn p(&self, p: impl Fn(&Ratio) -> Option<f64>) -> f64 {
        match self.support.allows_different() {
            true => (p(self.ratio).unwrap_or(1.0) * self.family.looks()).min(1.0),
            false => 1.0,
        }
    }

    fn hypothesis(&self) -> Hypothesis {
        Hypothesis {
            family: self.family,
            p_value: self.p(Ratio::p_value),
            standard_error: self.ratio.standard_error(),
            df: self.ratio.error.df,
        }
    }
}

fn hypotheses(rows: &[Tested]) -> Vec<Hypothesis> {
    rows.iter().map(Tested::hypothesis).collect()
}

/// The smallest change of each row that is found with [`POWER`] if it is the
/// only one, as a share; `None` where more than the interval decides.
pub fn detectable_changes(rows: &[Tested]) -> Vec<Option<f64>> {
    let levels = levels(&hypotheses(rows), LEVEL);
    let of = |(row, level): (&Tested, f64)| {
        let error = row.ratio.standard_error();
        let level = level / row.family.looks();
        let change = detectable(error, row.ratio.error.df, level, POWER);
        Some(change).filter(|_| row.support == Support::Interval)
    };
    rows.iter().zip(levels).map(of).collect()
}

impl Samples for Tested<'_> {
    fn p_value(&self) -> Option<f64> {
        Some(self.p(Ratio::p_value))
    }

    fn interval(&self, level: f64) -> Option<Interval> {
        self.ratio.interval(level).filter(|_| self.support == Support::Interval)
    }

    fn precision(&self) -> Option<Hypothesis> {
        Some(self.hypothesis())
    }
}

/// The verdict on each of the rows that are looked at together; a difference that was shown may be smaller than
/// the margin (a share: 0.05 is 5 %, up or down).
pub fn findings(rows: &[Tested], margin: f64) -> Vec<Verdict> {
    let found = judge(rows, Correction::ByPrecision, Some(margin));
    found.into_iter().map(|finding| finding.verdict).collect()
}

/// Chance of a row's ratio this large or larger where its time grew by no more
/// than a factor; 1 where it may not be called different.
pub fn p_grown(row: &Tested, factor: f64) -> f64 {
    row.p(|ratio| ratio.p_above(factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::finding::{Finding, SummarizedSamples};
    use crate::compare::reading::Variance;

    fn ratio(value: f64, error: f64) -> Ratio {
        Ratio { ln: value.ln(), error: Variance { value: error * error, df: 14.0 } }
    }

    fn one(value: f64, error: f64, support: Support) -> Verdict {
        let ratio = ratio(value, error);
        let tested = Tested { ratio: &ratio, support, family: Family::Quiet };
        findings(&[tested], 0.05)[0]
    }

    #[test]
    fn three_answers() {
        use Support::Interval;
        assert_eq!(one(1.2, 0.01, Interval), Verdict::Different);
        assert_eq!(one(0.8, 0.01, Interval), Verdict::Different);
        assert_eq!(one(1.01, 0.01, Interval), Verdict::SameWithinNoise);
        assert_eq!(one(1.01, 0.1, Interval), Verdict::CannotTell);
        // Small and certain is still a difference.
        assert_eq!(one(1.01, 0.001, Interval), Verdict::Different);
        // Inside on one side only: 1.03 with 2.1 % to either side.
        assert_eq!(one(1.03, 0.014, Interval), Verdict::CannotTell);
        assert_eq!(one(1.0 / 1.03, 0.014, Interval), Verdict::CannotTell);
    }

    #[test]
    fn a_mixture_differs_only_where_nothing_overlaps() {
        let apart = |apart| Support::Mixture { apart };
        assert_eq!(one(2.0, 0.05, apart(false)), Verdict::CannotTell);
        assert_eq!(one(2.0, 0.05, apart(true)), Verdict::Different);
        assert_eq!(one(1.0, 0.001, apart(true)), Verdict::CannotTell, "never the same");
        assert_eq!(one(2.0, 0.05, Support::Nothing), Verdict::CannotTell);
    }

    #[test]
    fn the_worst_verdict_decides() {
        use estimate::Verdict::*;
        assert_eq!(Support::from_verdicts(&[Ok, Noisy], false), Support::Interval);
        let mixture = Support::Mixture { apart: true };
        assert_eq!(Support::from_verdicts(&[Ok, TwoStates], true), mixture);
        assert_eq!(Support::from_verdicts(&[CannotTell, Noisy], true), mixture);
        assert_eq!(Support::from_verdicts(&[TwoStates, Invalid], true), Support::Nothing);
    }

    #[test]
    fn rows_that_may_not_be_called_still_count() {
        // p = 0.03 alone is different; as one of two it is not.
        let (near, far) = (ratio(1.0, 0.01), ratio(1.0245, 0.01));
        let p = far.p_value().expect("a spread");
        assert!((0.025..0.05).contains(&p), "{p}");
        let of = |ratio, support| Tested { ratio, support, family: Family::Quiet };
        let alone = [of(&far, Support::Interval)];
        assert_eq!(findings(&alone, 0.05)[0], Verdict::Different);
        let with = [of(&near, Support::Nothing), of(&far, Support::Interval)];
        assert_eq!(findings(&with, 0.05)[1], Verdict::SameWithinNoise);
    }

    #[test]
    fn each_row_says_which_change_it_could_have_found() {
        let [calm, rough] = [ratio(1.0, 0.01), ratio(1.0, 0.1)];
        let of = |ratio, support| Tested { ratio, support, family: Family::Quiet };
        let rows = [
            of(&calm, Support::Interval),
            of(&rough, Support::Interval),
            of(&calm, Support::Mixture { apart: true }),
        ];
        let [calm, rough, mixture] = detectable_changes(&rows)[..] else {
            panic!("three rows");
        };
        let [calm, rough] = [calm, rough].map(|size| size.expect("an interval"));
        assert!((0.03..0.06).contains(&calm) && rough > 0.3, "{calm} {rough}");
        assert_eq!(mixture, None);
    }

    #[test]
    fn a_gate_is_crossed_only_by_what_is_surely_beyond() {
        let crossed = |rows: &[Tested]| -> Vec<bool> {
            let grown = rows.iter().map(|row| SummarizedSamples(Some(p_grown(row, 1.1)), None));
            let found = judge(&grown.collect::<Vec<_>>(), Correction::Holm(LEVEL), None);
            found.iter().map(Finding::is_different).collect()
        };
        let (beyond, at, faster) = (ratio(1.3, 0.02), ratio(1.1, 0.02), ratio(0.5, 0.02));
        let wide = ratio(1.3, 0.2);
        let of = |ratio| Tested { ratio, support: Support::Interval, family: Family::Quiet };
        let rows = [of(&beyond), of(&at), of(&faster), of(&wide)];
        assert_eq!(crossed(&rows), [true, false, false, false]);
        let mixture = Tested { support: Support::Mixture { apart: false }, ..of(&beyond) };
        assert_eq!(crossed(&[mixture]), [false]);
    }
}
