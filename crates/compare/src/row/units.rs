//! Figures and ratios in a row's unit.

use model::compare::measure::Measure;
use model::stats::Interval;
use model::unit::Unit;

pub(crate) fn unit_name(unit: &Unit, measure: Option<Measure>) -> &'static str {
    let cycles = measure == Some(Measure::QuietCycles);
    match (unit, cycles) {
        (Unit::Time, false) => "ns",
        (Unit::Time, true) => "cycles",
        (Unit::Bandwidth { .. }, false) => "GB/s",
        (Unit::Bandwidth { .. }, true) => "bytes per cycle",
        (Unit::Frequency, _) => "GHz",
        (Unit::Count, _) => "",
        (Unit::Bytes, _) => "bytes",
    }
}

/// An interval of time (or cycles) an operation in a unit, the smaller end
/// first.
pub(crate) fn in_unit(interval: &Interval, unit: &Unit) -> Interval {
    let ends = [interval.low, interval.high].map(|end| unit.of_ns(end));
    let [low, high] = if unit.inverted() { [ends[1], ends[0]] } else { ends };
    Interval { value: unit.of_ns(interval.value), low, high }
}

/// A ratio of times as one of a row's unit: speeds fall where times grow.
pub(crate) fn turned(ratio: &Interval, unit: &Unit) -> Interval {
    match unit.inverted() {
        true => Interval { value: 1.0 / ratio.value, low: 1.0 / ratio.high, high: 1.0 / ratio.low },
        false => *ratio,
    }
}
