//! Ours over theirs, where that means anything.

use super::Counterpart;
use model::estimate::{Estimate, Verdict};
use model::figure::leaves_a_digit;
use model::unit::Unit;

impl Counterpart<'_> {
    /// Our time over theirs, of an estimate in its row's unit. `None` where
    /// the figures are not of the same operation, theirs is doubtful, or ours
    /// says too little: below resolution, inconclusive, invalid, negative, without a digit that its
    /// interval supports.
    pub fn ratio(&self, estimate: &Estimate, unit: &Unit) -> Option<f64> {
        let measured = estimate.ns().filter(|_| estimate.below_ns.is_none())?;
        let unreliable = matches!(estimate.verdict, Verdict::CannotTell | Verdict::Invalid)
            || !leaves_a_digit(&measured);
        if unreliable || measured.value <= 0.0 || !self.comparable() {
            return None;
        }
        if let Some(published) = self.row.cycles {
            return Some(estimate.quiet?.cycles?.value / published);
        }
        match (self.row.ns, self.row.mb_per_s, unit) {
            (Some(published), _, _) => Some(measured.value / published),
            (None, Some(published), Unit::Bandwidth { .. }) => {
                Some(published / 1000.0 / unit.of_ns(measured.value))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::references::{ComparisonRule, ReferenceRow};
    use model::run::Outcome;
    use model::stats::Interval;
    use model::synthetic::{ok_outcome, stamped_figure};

    fn published(ns: Option<f64>, mb_per_s: Option<f64>) -> ReferenceRow {
        ReferenceRow { ns, mb_per_s, ..ReferenceRow::default() }
    }

    fn ratio(row: &ReferenceRow, estimate: &Estimate, unit: Unit) -> Option<f64> {
        let counterpart = Counterpart { row, rule: row.own_rule() };
        counterpart.ratio(estimate, &unit)
    }

    #[test]
    fn ours_over_theirs() {
        let row = published(Some(100.0), None);
        let of = |ns| ratio(&row, &stamped_figure(ns, 1.0), Unit::Time);
        assert_eq!(of(50.0), Some(0.5));
        assert_eq!(of(-50.0), None, "a negative time");
    }

    #[test]
    fn cycles_are_compared_with_cycles_whatever_the_clock() {
        let row = ReferenceRow { cycles: Some(4.0), ..ReferenceRow::default() };
        let stamped = stamped_figure(50.0, 1.0);
        assert_eq!(ratio(&row, &stamped, Unit::Time), None, "a figure without cycles");
        let Outcome::Figure(mut measured) = ok_outcome(50.0, 1.0) else {
            panic!("a figure");
        };
        let cycles = Interval { value: 5.0, low: 4.9, high: 5.1 };
        measured.quiet.as_mut().expect("quiet").cycles = Some(cycles);
        assert_eq!(ratio(&row, &measured, Unit::Time), Some(1.25));
        let near = ReferenceRow { rule: ComparisonRule::Near, ..row };
        assert_eq!(ratio(&near, &measured, Unit::Time), None, "the same job by other means");
    }

    #[test]
    fn of_two_speeds_the_times_are_compared() {
        let row = published(None, Some(500.0));
        let unit = Unit::Bandwidth { bytes_per_op: 1e6 };
        // 1 MB in 1 ms: 1 GB/s, half of the time that 500 MB/s take.
        let measured = stamped_figure(1e6, 1.0);
        assert_eq!(ratio(&row, &measured, unit), Some(0.5));
        assert_eq!(ratio(&row, &measured, Unit::Time), None, "a time and a speed");
    }

    #[test]
    fn what_says_too_little_has_no_ratio() {
        let mut row = published(Some(100.0), None);
        let mut measured = stamped_figure(50.0, 1.0);
        for verdict in [Verdict::CannotTell, Verdict::Invalid] {
            measured.verdict = verdict;
            assert_eq!(ratio(&row, &measured, Unit::Time), None, "{verdict:?}");
        }
        measured.verdict = Verdict::Noisy;
        assert_eq!(ratio(&row, &measured, Unit::Time), Some(0.5));
        let wide = stamped_figure(50.0, 50.0);
        assert_eq!(ratio(&row, &wide, Unit::Time), None, "an interval that reaches 0");
        measured.below_ns = Some(60.0);
        assert_eq!(ratio(&row, &measured, Unit::Time), None, "below resolution");
        measured.below_ns = None;
        row.doubtful = Some("a slip".into());
        assert_eq!(ratio(&row, &measured, Unit::Time), None, "doubtful");
        row.doubtful = None;
        row.reference_only = true;
        assert_eq!(ratio(&row, &measured, Unit::Time), None, "another machine's");
    }
}
