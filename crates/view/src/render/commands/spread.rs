//! What a command cost, in one scale for a line.

use crate::render::figures::{Shown, shown_figure};
use model::estimate::Estimate;
use model::figure::{decimals, in_scale, plain_zero, scale_of};
use model::story::Cell;
use model::unit::Unit;

/// Median, half of its interval, quantiles and range, all in one scale.
pub(super) fn spread_cells(estimate: &Estimate, unit: &Unit, values: &[f64]) -> [Cell; 3] {
    let Some(typical) = estimate.typical else {
        return ["-", "", ""].map(Cell::from);
    };
    let value = unit.of_ns(typical.ns.value);
    let half = match unit.inverted() {
        true => value.abs() * typical.ns.relative_half_width(),
        false => typical.ns.half_width(),
    };
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // One scale for all: that of the larger, where the median is near 0. Where
    // nine of ten are 0, what is not has the only scale there is.
    let largest = match value.abs().max(unit.of_ns(typical.p90_ns).abs()) {
        0.0 if most.is_finite() => unit.of_ns(most).abs(),
        largest => largest,
    };
    let (scale, name) = scale_of(unit, largest);
    let [median, half] = in_scale(unit, value, half, scale);
    let number = |v: f64| {
        let v = unit.of_ns(v);
        plain_zero(match *unit == Unit::Count && scale == 1.0 {
            // Between two whole numbers of events.
            true => format!("{v:.*}", usize::from(v.fract() != 0.0)),
            false => format!("{:.*}", decimals(v / scale, 0.0), v / scale),
        })
    };
    let range = |low: f64, high: f64| match unit.inverted() {
        true => (number(high), number(low)),
        false => (number(low), number(high)),
    };
    let (p10, p90) = range(typical.p10_ns, typical.p90_ns);
    let ends = match least <= most {
        true => {
            let (low, high) = range(least, most);
            format!("{low} to {high}")
        }
        false => String::new(),
    };
    if let Shown::Below(text) = shown_figure(estimate, unit) {
        // What some runs took all the same.
        let (range, ends) = match value == 0.0 && most > 0.0 {
            true => (format!("[{p10}-{p90}]"), format!("{ends} {name}")),
            false => (String::new(), String::new()),
        };
        return [text, range, ends].map(Cell::from);
    }
    [
        Cell::digits([format!("{median} {name:<3}"), format!("±{half}")]),
        format!("[{p10}-{p90}]").into(),
        ends.into(),
    ]
}
