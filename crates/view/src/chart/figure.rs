//! Figures of the document in the unit that a picture shows them in, as points
//! and curves. No figure is changed: a bandwidth is the bytes of an operation
//! over its time, and the ends of its interval change places.

use super::{Axis, ChartLine, CurveKind, Point, Quantity};
use model::estimate::{Estimate, Verdict};
use model::run::{self, CurvePoint, Outcome, Row};
use model::stats::Interval;
use model::unit::Unit;

/// A figure with the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlottedFigure {
    pub(super) value: f64,
    pub(super) low: Option<f64>,
    /// Absent where it has no bound: a time whose interval holds 0 is as fast
    /// as one likes.
    pub(super) high: Option<f64>,
}

impl PlottedFigure {
    /// An interval in ns, seen in a unit; nothing where it is no number there.
    pub(super) fn from_interval(ns: &Interval, unit: &Unit) -> Option<PlottedFigure> {
        let (low, high) = match unit.inverted() {
            true => (ns.high, ns.low),
            false => (ns.low, ns.high),
        };
        let value = unit.of_ns(ns.value);
        // A speed below 0 would be that of a time below 0.
        let end = |ns: f64| match unit.inverted() && ns <= 0.0 {
            true => None,
            false => Some(unit.of_ns(ns)).filter(|end| end.is_finite()),
        };
        value.is_finite().then(|| PlottedFigure { value, low: end(low), high: end(high) })
    }

    /// What an estimate says first, quiet or typical.
    pub(super) fn first(estimate: &Estimate, unit: &Unit) -> Option<PlottedFigure> {
        PlottedFigure::from_interval(&estimate.ns()?, unit)
    }

    /// As a point of a curve.
    pub(super) fn as_point(self, x: f64, verdict: Option<Verdict>) -> Point {
        Point { x, y: self.value, low: self.low, high: self.high, verdict }
    }
}

/// The points of a row that is a curve over this.
pub(super) fn curve(row: &Row, over: run::Axis) -> Option<&[CurvePoint]> {
    match &row.outcome {
        Outcome::Curve { axis, points } if *axis == over => Some(points),
        _ => None,
    }
}

/// What an axis of figures in a unit measures.
pub(super) fn of_unit(unit: &Unit) -> Quantity {
    match unit {
        Unit::Time => Quantity::Nanoseconds,
        Unit::Bandwidth { .. } => Quantity::GigabytesPerSecond,
        Unit::Bytes => Quantity::Bytes,
        Unit::Frequency | Unit::Count => Quantity::Count,
    }
}

pub(crate) fn log(label: &str, quantity: Quantity) -> Axis {
    Axis { label: label.into(), quantity, log: true, from_zero: true }
}

/// A linear axis from 0.
pub(crate) fn linear(label: &str, quantity: Quantity) -> Axis {
    Axis { log: false, ..log(label, quantity) }
}

/// A joined curve of what was measured.
pub(super) fn joined(name: impl Into<String>, is: CurveKind, points: Vec<Point>) -> ChartLine {
    ChartLine { name: name.into(), is, points, joined: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS: Interval = Interval { value: 4.0, low: 2.0, high: 8.0 };

    #[test]
    fn the_ends_of_a_speed_change_places() {
        let speed = Unit::Bandwidth { bytes_per_op: 16.0 };
        let of = |ns: &Interval, unit| PlottedFigure::from_interval(ns, unit).expect("a figure");
        let time = of(&NS, &Unit::Time);
        assert_eq!((time.value, time.low, time.high), (4.0, Some(2.0), Some(8.0)));
        let fast = of(&NS, &speed);
        assert_eq!((fast.value, fast.low, fast.high), (4.0, Some(2.0), Some(8.0)));
        let one_sided = Interval { low: -1.0, ..NS };
        let fast = of(&one_sided, &speed);
        assert_eq!((fast.low, fast.high), (Some(2.0), None));
        let nothing = Interval { value: 0.0, ..NS };
        assert_eq!(PlottedFigure::from_interval(&nothing, &speed), None);
    }
}
