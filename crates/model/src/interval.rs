//! Arithmetic of independent figures: half widths add in quadrature, relative
//! ones under division.

use crate::stats::Interval;

impl Interval {
    /// A value with half of its interval to either side.
    pub fn about(value: f64, half: f64) -> Interval {
        Interval { value, low: value - half, high: value + half }
    }

    /// The sum of two figures.
    pub fn plus(&self, other: &Interval) -> Interval {
        Interval::about(self.value + other.value, self.half_width().hypot(other.half_width()))
    }

    /// The first figure less the second.
    pub fn minus(&self, other: &Interval) -> Interval {
        Interval::about(self.value - other.value, self.half_width().hypot(other.half_width()))
    }

    /// The first figure over the second; `None` where either is not above 0.
    pub fn over(&self, other: &Interval) -> Option<Interval> {
        if !(self.value > 0.0 && other.value > 0.0) {
            return None;
        }
        let relative = self.relative_half_width().hypot(other.relative_half_width());
        let value = self.value / other.value;
        Some(Interval::about(value, value * relative))
    }

    /// The interval of what is shifted by a factor of at most e^`relative`
    /// either way: its ends are moved outward by that. With a negative one, what
    /// it was before.
    #[must_use]
    pub fn widened(&self, relative: f64) -> Interval {
        let (less, more) = ((-relative).exp(), relative.exp());
        let by = |end: f64, outward: f64, inward: f64| match end < 0.0 {
            true => end * inward,
            false => end * outward,
        };
        Interval {
            value: self.value,
            low: by(self.low, less, more),
            high: by(self.high, more, less),
        }
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
    fn a_factor_moves_both_ends_outward() {
        let moved = Interval::about(100.0, 1.0).widened(1.1_f64.ln());
        assert_eq!(moved.value, 100.0);
        assert!((moved.low - 90.0).abs() < 1e-9 && (moved.high - 111.1).abs() < 1e-9);
        for of in [(100.0, 1.0), (0.1, 1.0), (-5.0, 1.0)] {
            let before = Interval::about(of.0, of.1);
            let wide = before.widened(0.08);
            assert!(wide.low < before.low && wide.high > before.high, "{wide:?}");
            is(&wide.widened(-0.08), of.0, of.1);
        }
    }

    #[test]
    fn an_interval_excludes_zero_or_not() {
        assert!(!Interval::about(2.0, 2.1).excludes_zero());
        assert!(Interval::about(-2.0, 1.9).excludes_zero());
        assert!(!Interval::about(0.0, 0.0).excludes_zero());
    }
}
