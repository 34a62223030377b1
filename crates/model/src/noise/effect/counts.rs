//! Whether a control changes how often something happens in a run: context
//! switches, migrations.
//!
//! Counts may be 0 in most runs, so there is no ratio: the figure is the
//! difference of the means, on less off, round by round, tested by exchanging
//! the two counts of a round (a paired permutation test, as [`super::spread`]
//! has it). The interval holds every difference that the test does not refuse.

use super::spread::exchanged;
use super::{CountChange, OneRun, Verdict};
use crate::stats::{self, Interval};

/// Halvings of the range in which an end of the interval is looked for.
const HALVINGS: u32 = 14;

/// Counts of two states, round by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    off: Vec<f64>,
    on: Vec<f64>,
}

impl Counts {
    /// Of the runs of two states; incomplete rounds at the end are left out.
    /// `None` where one run has none.
    pub fn of(
        off: &[OneRun],
        on: &[OneRun],
        count: impl Fn(&OneRun) -> Option<u64>,
    ) -> Option<Counts> {
        let rounds = off.len().min(on.len());
        let all = |runs: &[OneRun]| -> Option<Vec<f64>> {
            let counts = runs[..rounds].iter().map(|run| Some(count(run)? as f64));
            counts.collect()
        };
        Some(Counts {
            off: all(off)?,
            on: all(on)?,
        })
    }

    fn differences(&self, less: f64) -> Vec<f64> {
        let both = self.on.iter().zip(&self.off);
        both.map(|(on, off)| on - off - less).collect()
    }

    /// How likely so much is where the control does nothing. `None` without a
    /// round.
    pub fn p_value(&self) -> Option<f64> {
        (!self.on.is_empty()).then(|| exchanged(&self.differences(0.0)))
    }

    /// The mean difference with all the differences that are not refused at
    /// `1 - level`; `None` where there are too few rounds to refuse any.
    pub fn difference(&self, level: f64) -> Option<Interval> {
        let differences = self.differences(0.0);
        let value = stats::mean(&differences)?;
        let refused = |other: f64| exchanged(&self.differences(other)) <= 1.0 - level;
        let largest = differences
            .iter()
            .fold(0.0_f64, |most, d| most.max(d.abs()));
        let end = |reach: f64| -> Option<f64> {
            let (mut held, mut out) = (value, value + reach);
            refused(out).then_some(())?;
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(held, out);
                match refused(middle) {
                    true => out = middle,
                    false => held = middle,
                }
            }
            Some(out)
        };
        // Beyond twice the largest all differences have one sign.
        let reach = 2.0 * largest + 1.0;
        Some(Interval {
            value,
            low: end(-reach)?,
            high: end(reach)?,
        })
    }

    /// What may be said of it.
    pub fn change(&self, significant: bool, level: f64) -> CountChange {
        let difference = self.difference(level);
        let verdict = match &difference {
            None => Verdict::CannotTell,
            Some(d) if significant && d.value < 0.0 => Verdict::Better,
            Some(_) if significant => Verdict::Worse,
            Some(_) => Verdict::NoEffectShown,
        };
        CountChange {
            on: stats::mean(&self.on),
            off: stats::mean(&self.off),
            smallest: difference.map(|d| (d.value - d.low).max(d.high - d.value)),
            difference,
            p_value: self.p_value(),
            verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(counts: &[u64]) -> Vec<OneRun> {
        let run = |&n: &u64| OneRun {
            voluntary: n,
            migrations: Some(n / 10),
            ..OneRun::default()
        };
        counts.iter().map(run).collect()
    }

    #[test]
    fn fewer_is_better_and_none_in_both_is_no_effect() {
        // As in the appendix: some 151 switches and 10 migrations, then 102 and 0.
        let off = runs(&[151, 140, 155, 149, 160, 152, 148, 151, 150, 147]);
        let on = runs(&[102, 99, 101, 103, 98, 105, 102, 100, 104, 101]);
        let switches = Counts::of(&off, &on, |r| Some(r.voluntary)).expect("counted");
        assert!(switches.p_value().expect("ten rounds") <= 2.0 / 1024.0 + 1e-12);
        let change = switches.change(true, 0.95);
        assert_eq!(change.verdict, Verdict::Better);
        let difference = change.difference.expect("ten rounds");
        assert!((difference.value + 48.8).abs() < 1e-9, "{difference:?}");
        assert!(difference.low < -48.8 && difference.high > -48.8 && difference.high < -40.0);
        assert!(
            change.smallest.is_some_and(|s| (2.0..9.0).contains(&s)),
            "{change:?}"
        );
        let none = Counts::of(&on, &on, |r| r.migrations.map(|_| 0)).expect("counted");
        assert_eq!(none.p_value(), Some(1.0));
        let change = none.change(false, 0.95);
        assert_eq!(change.verdict, Verdict::NoEffectShown);
        assert_eq!((change.on, change.off), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn too_few_rounds_and_what_is_not_counted_say_so() {
        let few = Counts::of(&runs(&[5, 6, 7]), &runs(&[1, 1, 1]), |r| Some(r.voluntary));
        let change = few.expect("counted").change(false, 0.95);
        assert_eq!(
            (change.verdict, change.smallest),
            (Verdict::CannotTell, None)
        );
        let uncounted = [OneRun::default()];
        assert_eq!(Counts::of(&uncounted, &uncounted, |r| r.migrations), None);
    }
}
