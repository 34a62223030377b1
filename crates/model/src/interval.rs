//! Arithmetic of independent figures: half widths add in quadrature, relative
//! ones under division.

use crate::stats::Interval;

impl Interval {
    /// A value with half of its interval to either side.
    pub fn about(value: f64, half: f64) -> Interval {
        Interval {
            value,
            low: value - half,
            high: value + half,
        }
    }

    /// The sum of two figures.
    pub fn plus(&self, other: &Interval) -> Interval {
        Interval::about(
            self.value + other.value,
            self.half_width().hypot(other.half_width()),
        )
    }

    /// The first figure less the second.
    pub fn minus(&self, other: &Interval) -> Interval {
        Interval::about(
            self.value - other.value,
            self.half_width().hypot(other.half_width()),
        )
    }

    /// The first figure over the second; `None` where either is not above 0.
    pub fn over(&self, other: &Interval) -> Option<Interval> {
        if !(self.value > 0.0 && other.value > 0.0) {
            return None;
        }
        let relative = self
            .relative_half_width()
            .hypot(other.relative_half_width());
        let value = self.value / other.value;
        Some(Interval::about(value, value * relative))
    }

    /// Whether 0 lies outside the interval.
    pub fn excludes_zero(&self) -> bool {
        self.value.abs() > self.half_width()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(figure: &Interval, value: f64, half: f64) {
        assert!((figure.value - value).abs() < 1e-9, "{figure:?}");
        assert!((figure.half_width() - half).abs() < 1e-9, "{figure:?}");
    }

    #[test]
    fn half_widths_add_in_quadrature() {
        let (a, b) = (Interval::about(70.0, 3.0), Interval::about(42.0, 4.0));
        is(&a.minus(&b), 28.0, 5.0);
        is(&a.plus(&b).plus(&Interval::about(-2.0, 12.0)), 110.0, 13.0);
        let (a, b) = (Interval::about(30.0, 0.9), Interval::about(20.0, 0.8));
        is(&a.over(&b).expect("both above 0"), 1.5, 1.5 * 0.05);
        assert_eq!(a.over(&Interval::about(0.0, 0.8)), None);
        assert_eq!(a.over(&Interval::about(-2.0, 0.9)), None);
        assert_eq!(Interval::about(f64::NAN, 0.9).over(&a), None);
    }

    #[test]
    fn an_interval_excludes_zero_or_not() {
        assert!(!Interval::about(2.0, 2.1).excludes_zero());
        assert!(Interval::about(-2.0, 1.9).excludes_zero());
        assert!(!Interval::about(0.0, 0.0).excludes_zero());
    }
}
