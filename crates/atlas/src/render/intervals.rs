//! Arithmetic of independent figures: half widths add in quadrature, relative
//! ones under division.

use model::stats::Interval;

/// A figure with half of its interval to either side.
fn about(value: f64, half: f64) -> Interval {
    Interval {
        value,
        low: value - half,
        high: value + half,
    }
}

/// Their sum.
pub(super) fn sum(figures: &[Interval]) -> Interval {
    figures.iter().fold(about(0.0, 0.0), |all, one| {
        about(
            all.value + one.value,
            all.half_width().hypot(one.half_width()),
        )
    })
}

/// The first without the second.
pub(super) fn difference(a: &Interval, b: &Interval) -> Interval {
    about(a.value - b.value, a.half_width().hypot(b.half_width()))
}

/// The first over the second; nothing where either is not above 0.
pub(super) fn quotient(a: &Interval, b: &Interval) -> Option<Interval> {
    if !(a.value > 0.0 && b.value > 0.0) {
        return None;
    }
    let value = a.value / b.value;
    let relative = a.relative_half_width().hypot(b.relative_half_width());
    Some(about(value, value * relative))
}

/// Whether the interval leaves 0 out.
pub(super) fn differs_from_nothing(difference: &Interval) -> bool {
    difference.value.abs() > difference.half_width()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(found: &Interval, value: f64, half: f64) {
        assert!((found.value - value).abs() < 1e-9, "{found:?}");
        assert!((found.half_width() - half).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn sums_and_differences_carry_all_intervals() {
        let (a, b) = (about(70.0, 3.0), about(42.0, 4.0));
        is(&difference(&a, &b), 28.0, 5.0);
        is(&sum(&[a, b, about(-2.0, 12.0)]), 110.0, 13.0);
        is(&sum(&[]), 0.0, 0.0);
    }

    #[test]
    fn quotients_carry_relative_intervals() {
        let ratio = quotient(&about(30.0, 0.9), &about(20.0, 0.8)).expect("both above 0");
        is(&ratio, 1.5, 1.5 * 0.05);
        assert_eq!(quotient(&about(30.0, 0.9), &about(0.0, 0.8)), None);
        assert_eq!(quotient(&about(-1.0, 0.9), &about(2.0, 0.8)), None);
        assert_eq!(quotient(&about(f64::NAN, 0.9), &about(2.0, 0.8)), None);
    }

    #[test]
    fn nothing_is_told_from_nothing_by_its_interval() {
        assert!(!differs_from_nothing(&about(2.0, 2.1)));
        assert!(differs_from_nothing(&about(-2.0, 1.9)));
        assert!(!differs_from_nothing(&about(0.0, 0.0)));
    }
}
