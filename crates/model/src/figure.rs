//! Figures as text: three significant digits, and never more than the
//! interval supports.

use crate::stats::Interval;
use crate::unit::Unit;

/// Decimals that show `value` with three significant digits, fewer where the
/// interval's half width says that the last ones mean nothing (one digit of
/// the half width is kept).
pub fn decimals(value: f64, half_width: f64) -> usize {
    let digit_of = |x: f64| {
        if x.abs() > 0.0 && x.is_finite() {
            x.abs().log10().floor() as i32
        } else {
            0
        }
    };
    let by_value = 2 - digit_of(value);
    let by_width = if half_width > 0.0 && half_width.is_finite() {
        -digit_of(half_width)
    } else {
        by_value
    };
    by_value.min(by_width.max(0)).max(0) as usize
}

/// A time in the unit that suits it: `0.412 ns`, `14.2 ns`, `3.1 µs`.
pub fn time(ns: f64) -> String {
    let (scale, name) = time_scale(ns);
    let value = ns / scale;
    format!("{value:.*} {name}", decimals(value, 0.0))
}

/// Divisor and name of the unit that suits a time.
pub fn time_scale(ns: f64) -> (f64, &'static str) {
    match ns.abs() {
        a if a < 1e4 => (1.0, "ns"),
        a if a < 1e7 => (1e3, "µs"),
        a if a < 1e10 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// A figure in its row's unit: number, half width and unit name apart, so that
/// a table can align them.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The number.
    pub value: String,
    /// Half of the interval, same decimals as far as they mean anything.
    pub half_width: String,
    /// Unit.
    pub unit: &'static str,
}

/// Sets an interval in ns per operation as text in a row's unit.
pub fn figure(ns: &Interval, unit: &Unit) -> Figure {
    let (value, half, name) = match unit {
        Unit::Time => {
            let (scale, name) = time_scale(ns.value);
            (ns.value / scale, ns.half_width() / scale, name)
        }
        _ => {
            let value = unit.of_ns(ns.value);
            // Relative width is kept under inversion, to first order.
            let half = value.abs() * ns.relative_half_width();
            (
                value,
                half,
                if matches!(unit, Unit::Frequency) {
                    "GHz"
                } else {
                    "GB/s"
                },
            )
        }
    };
    let decimals = decimals(value, half);
    Figure {
        value: format!("{value:.decimals$}"),
        half_width: half_width_text(half, decimals),
        unit: name,
    }
}

/// The half width rounded up to the figure's decimals: an interval printed as
/// ±0 would claim too much.
fn half_width_text(half: f64, decimals: usize) -> String {
    if !half.is_finite() {
        return "?".into();
    }
    let step = 10_f64.powi(-(decimals as i32));
    let rounded = ((half / step) - 1e-9).ceil().max(0.0) * step;
    format!("{rounded:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, half: f64) -> Figure {
        figure(
            &Interval {
                value,
                low: value - half,
                high: value + half,
            },
            &Unit::Time,
        )
    }

    #[test]
    fn never_more_digits_than_the_interval_supports() {
        assert_eq!(of(3.6149, 0.04).value, "3.61");
        assert_eq!(of(3.6149, 0.4).value, "3.6");
        assert_eq!(of(36.149, 4.0).value, "36");
        assert_eq!(of(0.41237, 0.0001).value, "0.412");
        assert_eq!(of(0.41237, 0.0001).half_width, "0.001");
        assert_eq!(of(96.3, 0.0).value, "96.3");
        assert_eq!(of(1523.0, 3.0).value, "1523");
    }

    #[test]
    fn units_follow_the_size() {
        assert_eq!(time(0.5), "0.500 ns");
        assert_eq!(time(12_340.0), "12.3 µs");
        assert_eq!(time(52_226_907.0), "52.2 ms");
        let half_a_cycle = Interval {
            value: 0.4,
            low: 0.396,
            high: 0.404,
        };
        let ghz = figure(&half_a_cycle, &Unit::Frequency);
        assert_eq!((ghz.value.as_str(), ghz.unit), ("2.50", "GHz"));
        let bandwidth = figure(&half_a_cycle, &Unit::Bandwidth { bytes_per_op: 4.0 });
        assert_eq!(bandwidth.value, "10.0");
        assert_eq!(bandwidth.half_width, "0.1");
    }
}
