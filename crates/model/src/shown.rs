//! Single figures as text: what to show of an estimate, with the digits that
//! its interval supports.

use crate::estimate::{Estimate, Typical};
use crate::figure::{
    Figure, decimals, figure_in_unit, is_zero, leaves_a_digit, magnitude, plain_zero, scale_of,
    time_scale, without_sign_of_zero, without_zeros,
};
use crate::repeats::LEAST_FOR_INTERVAL;
use crate::stats::Interval;
use crate::unit::Unit;

pub use crate::figure::{number_parts, number_with_half};

/// The figure to show first of an estimate, or that it is below resolution,
/// or nothing.
pub enum Shown {
    /// A figure with half of its interval.
    Figure(Figure),
    /// Less than this, or that it is below resolution.
    Below(String),
    /// Nothing was measured.
    Nothing,
}

/// What to show of an estimate in a row's unit.
pub fn shown_figure(estimate: &Estimate, unit: &Unit) -> Shown {
    match (estimate.below_ns, figure_ns(estimate)) {
        // A speed below resolution would read as a slow one.
        (Some(ns), _) if *unit == Unit::Time => Shown::Below(format!("< {}", bound(ns))),
        (Some(bytes), _) if *unit == Unit::Bytes => {
            Shown::Below(format!("<= {}", crate::figure::value_text(unit, bytes)))
        }
        (Some(_), _) => Shown::Below("below resolution".into()),
        (None, Some(ns)) => match interval_figure(&ns, unit) {
            // Less than the last digit that its interval supports.
            f if unit.is_time() && is_zero(&f.value) => Shown::Below("below resolution".into()),
            f => Shown::Figure(f),
        },
        (None, None) => Shown::Nothing,
    }
}

/// The figure to show first, as wide as nothing is known of it where too few values were seen for an
/// interval: the range of one value has no width, and that of few is no interval of 95 %.
pub(crate) fn figure_ns(estimate: &Estimate) -> Option<Interval> {
    match (estimate.quiet, estimate.headline()) {
        (None, Some((typical, _))) => Some(typical_interval(&typical)),
        _ => estimate.ns(),
    }
}

fn typical_interval(typical: &Typical) -> Interval {
    match (typical.samples as usize) < LEAST_FOR_INTERVAL {
        true => Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, ..typical.ns },
        false => typical.ns,
    }
}

/// An interval as text.
pub fn interval_figure(ns: &Interval, unit: &Unit) -> Figure {
    let figure = figure_in_unit(ns, unit);
    Figure { half_width: without_sign_of_zero(figure.half_width), ..figure }
}

/// Half of a quiet figure's interval as text: marked where it holds for this
/// run's clock only, since another run may have another clock.
pub fn quiet_half(estimate: &Estimate, half_width: &str) -> String {
    half_with_sign(half_width, is_at_run_clock(estimate))
}

/// Whether the quiet figure in ns was set at the clock of its run.
pub(crate) fn is_at_run_clock(estimate: &Estimate) -> bool {
    estimate.quiet.is_some_and(|quiet| quiet.at_run_clock)
}

pub(crate) fn half_with_sign(half_width: &str, at_run_clock: bool) -> String {
    format!("±{half_width}{}", if at_run_clock { "*" } else { "" })
}

/// A time with half of its interval, for sentences: `71.3 µs ±2.1`.
pub fn time_with_half(ns: &Interval) -> String {
    interval_figure(ns, &Unit::Time).number_and_half().join(" ")
}

/// An upper bound, rounded up to two digits: rounded down it would be wrong.
fn bound(ns: f64) -> String {
    let (scale, name) = time_scale(ns);
    let value = ns / scale;
    if value <= 0.0 || !value.is_finite() {
        return format!("? {name}");
    }
    let step = 10_f64.powi(magnitude(value) - 1);
    let up = ((value / step) - 1e-6).ceil() * step;
    let places = (1 - magnitude(up)).max(0) as usize;
    format!("{} {name}", without_zeros(&format!("{up:.places$}")))
}

/// Clock cycles, as far as their interval supports them.
pub fn cycles(estimate: &Estimate) -> String {
    let cycles = estimate.quiet.and_then(|q| q.cycles);
    match (estimate.below_ns, cycles) {
        (None, Some(c)) => cycle_count(&c)[0].clone(),
        _ => String::new(),
    }
}

/// A count as far as its interval supports it, and half of that.
pub fn cycle_count(c: &Interval) -> [String; 2] {
    let scale_of = |cycles: f64| match cycles {
        v if v >= 999.5e3 => (1e6, "M"),
        v if v >= 999.5 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let (scale, name) = scale_of(c.value);
    let in_scale = c.scaled(1.0 / scale);
    let text = number_with_half(&in_scale);
    let (count, half) = text.split_once(" ±").unwrap_or((&text, ""));
    let (half_scale, half_name) = scale_of(c.half_width());
    let half = match c.half_width() / half_scale {
        own if half_scale > scale => format!("{own:.*}{half_name}", decimals(own, 0.0)),
        _ => half.to_owned(),
    };
    [format!("{count}{name}"), half]
}

/// Median with the 10 % and 90 % quantiles: `1.40 [1.38-1.52]`, in the unit of
/// the quiet figure next to it; its own unit stands with it where there is none.
/// Of modes that lie apart it is one mode's, with its name, as where only one occurred.
pub fn typical(estimate: &Estimate, unit: &Unit) -> String {
    let t = match estimate.headline() {
        Some((shown, _)) if estimate.below_ns.is_none() => shown,
        _ => return String::new(),
    };
    let text = typical_text(estimate, &t, unit);
    match estimate.mode() {
        Some(name) => format!("{text} {name}"),
        None => text,
    }
}

fn typical_text(estimate: &Estimate, t: &Typical, unit: &Unit) -> String {
    let value = unit.of_ns(t.ns.value);
    let (low, high) = quantile_ends(t, unit);
    let Some(quiet) = estimate.quiet else {
        return alone(t, [value, low, high], unit);
    };
    let (scale, _) = scale_of(unit, unit.of_ns(quiet.ns.value));
    // The spread says how many digits mean anything.
    let places = decimals(value / scale, (high - low).abs() / scale / 10.0).min(3);
    brackets([value, low, high].map(|v| plain_zero(format!("{:.places$}", v / scale))))
}

/// The same where it stands alone: three digits each, as far as the
/// median's own interval supports them, since a tail would leave none of a
/// median that is well known. A median whose interval leaves no digit is rough, `~1`: then the
/// quantiles have theirs.
fn alone(t: &Typical, values: [f64; 3], unit: &Unit) -> String {
    let [value, ..] = values;
    let rough_median = t.samples >= 2 && is_rough(&t.ns, unit);
    if t.samples < 2 {
        // Of one there is no spread, and equal ends would look like none.
        return interval_figure(&t.ns, unit).text();
    }
    let half = match unit.inverted() {
        _ if rough_median => 0.0,
        true => value.abs() * t.ns.relative_half_width(),
        false => t.ns.half_width(),
    };
    let in_scale = |v: f64, scale: f64| {
        if rough_median && v == value {
            return rough(v / scale);
        }
        let half = if value == 0.0 { 0.0 } else { half / scale };
        plain_zero(match *unit == Unit::Count && scale == 1.0 && v.fract() == 0.0 {
            true => format!("{v:.0}"),
            false => format!("{:.*}", decimals(v / scale, half), v / scale),
        })
    };
    let name = match unit {
        Unit::Bandwidth { .. } | Unit::Frequency => scale_of(unit, value).1,
        Unit::Count | Unit::Bytes => {
            let (scale, name) = scale_of(unit, value);
            let text = brackets(values.map(|v| in_scale(v, scale)));
            return format!("{text} {name}").trim_end().into();
        }
        Unit::Time => {
            let largest = values.into_iter().map(f64::abs).fold(0.0, f64::max);
            let (scale, name) = time_scale(largest);
            let texts = values.map(|v| in_scale(v, scale));
            let vanishes = |(v, text): (&f64, &String)| *v != 0.0 && is_zero(text);
            let any_vanishes = values.iter().zip(&texts).any(vanishes);
            let is_tiny = |v: &f64| *v != 0.0 && v.abs() / scale < 0.01;
            let any_tiny = is_tiny(&value) || rough_median && values.iter().any(is_tiny);
            if scale > 1.0 && (any_vanishes || any_tiny) {
                // No unit suits all three.
                return brackets(values.map(|v| {
                    let (scale, name) = time_scale(v);
                    format!("{} {name}", in_scale(v, scale))
                }));
            }
            return format!("{} {name}", brackets(texts));
        }
    };
    format!("{} {name}", brackets(values.map(|v| in_scale(v, 1.0))))
}

/// Whether the interval of a time leaves it no digit. A few events more or less are known well enough.
fn is_rough(ns: &Interval, unit: &Unit) -> bool {
    *unit == Unit::Time && ns.value > 0.0 && !leaves_a_digit(ns)
}

/// A number of which one digit is known at most: `~1`, `~300`.
fn rough(value: f64) -> String {
    let step = 10_f64.powi(magnitude(value));
    let places = (-magnitude(value)).max(0) as usize;
    format!("~{:.places$}", (value / step).round() * step)
}

/// A typical figure where neither its interval nor its quantiles stand with it.
pub fn typical_alone(ns: &Interval, unit: &Unit) -> String {
    let value = unit.of_ns(ns.value);
    match is_rough(ns, unit) {
        false => interval_figure(ns, unit).text(),
        true => {
            let (scale, name) = scale_of(unit, value);
            format!("{} {name}", rough(value / scale)).trim_end().into()
        }
    }
}

/// `1.40 [1.38-1.52]`; with `to`, where a minus would run into the dash.
fn brackets(texts: [String; 3]) -> String {
    let [value, low, high] = texts;
    let to = match low.starts_with('-') || high.starts_with('-') || low.contains(' ') {
        true => " to ",
        false => "-",
    };
    format!("{value} [{low}{to}{high}]")
}

/// Half of the interval of a median that stands alone, in its own unit.
pub fn typical_half(estimate: &Estimate, unit: &Unit) -> String {
    let alone = estimate.quiet.is_none() && estimate.below_ns.is_none();
    match estimate.headline().filter(|_| alone) {
        None => String::new(),
        Some((t, _)) => interval_figure(&typical_interval(&t), unit).half_with_unit(),
    }
}

/// The two quantiles in a row's unit, the smaller first.
fn quantile_ends(t: &Typical, unit: &Unit) -> (f64, f64) {
    let (a, b) = (unit.of_ns(t.p10_ns), unit.of_ns(t.p90_ns));
    if unit.inverted() { (b, a) } else { (a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Verdict;

    fn stamped(value: f64, half: f64, p10_ns: f64, p90_ns: f64) -> Estimate {
        Estimate::bare(
            Some(Typical {
                ns: Interval { value, low: value - half, high: value + half },
                p10_ns,
                p90_ns,
                samples: 96,
            }),
            Verdict::Ok,
        )
    }

    #[test]
    fn a_negative_time_is_set_like_any_other() {
        let start = stamped(-3_140.0, 210.0, -9_000.0, -120.0);
        assert_eq!(
            typical(&start, &Unit::Time),
            "-3.1 [-9.0 to -0.1] µs",
            "no dash next to a minus"
        );
        let Shown::Figure(f) = shown_figure(&start, &Unit::Time) else {
            panic!("a figure");
        };
        assert_eq!([f.value, f.half_width], ["-3.1", "0.3"]);
        let text = time_with_half(&start.ns().expect("a figure"));
        assert_eq!(text, "-3.1 µs ±0.3");
        let micros = stamped(-31_400.0, 2_100.0, -40_000.0, 1_500.0);
        assert_eq!(typical(&micros, &Unit::Time), "-31 [-40 to 2] µs");
    }

    #[test]
    fn nothing_has_no_sign() {
        let nearly = stamped(-0.04, 0.5, -0.3, 0.2);
        for about_0 in [&nearly, &stamped(0.001, 0.05, -0.01, 0.01)] {
            assert!(matches!(shown_figure(about_0, &Unit::Time), Shown::Below(_)));
        }
        let text = time_with_half(&nearly.ns().expect("a figure"));
        assert_eq!(text, "0 ns ±0.5");
        let exact = stamped(7.0, 0.0, 7.0, 7.0).ns().expect("a figure");
        assert_eq!(time_with_half(&exact), "7.00 ns ±0.00");
        assert_eq!(typical(&nearly, &Unit::Time), "0 [-0.3 to 0.2] ns");
    }

    #[test]
    fn a_long_tail_leaves_the_median_its_digits() {
        let text = |t: Estimate| typical(&t, &Unit::Time);
        assert_eq!(text(stamped(2_904.0, 21.0, 2_710.0, 41_030.0)), "2.90 [2.71-41.0] µs");
        assert_eq!(text(stamped(100.0, 1.0, 95.0, 2e7)), "100 ns [95 ns to 20.0 ms]");
        assert_eq!(text(stamped(0.0, 0.0, 0.0, 3.0)), "0 [0-3.00] ns");
        // What is not 0 does not read as 0, however wide its interval, and has no digits that it
        // leaves no room for.
        assert_eq!(text(stamped(289.0, 1_400.0, 0.0, 3_120.0)), "~0.3 [0-3.12] µs");
        let wide = stamped(45_000.0, 4_060_000.0, 110.0, 4_100_000.0);
        assert_eq!(text(wide.clone()), "~50 µs [110 ns to 4.10 ms]");
        assert_eq!(text(stamped(1.34e6, 1.4e6, 1.2e6, 1.61e6)), "~1 [1.20-1.61] ms");
        let alone = |value: f64, half: f64| {
            typical_alone(&Interval { value, low: value - half, high: value + half }, &Unit::Time)
        };
        assert_eq!([alone(1.34e6, 1.4e6), alone(1.34e6, 0.3e6)], ["~1 ms", "1.3 ms"]);
        assert_eq!(typical_half(&wide, &Unit::Time), "±4.06 ms");
    }

    #[test]
    fn numbers_with_their_interval() {
        let of = |value: f64, half: f64| {
            number_with_half(&Interval { value, low: value - half, high: value + half })
        };
        assert_eq!(of(1.0312, 0.0377), "1.03 ±0.04");
        assert_eq!(of(8.1, 3.2), "8 ±4");
        assert_eq!(of(-0.2, 5.0), "0 ±5");
        assert_eq!(of(1.0, 0.0), "1.00 ±0.00");
    }

    #[test]
    fn a_half_width_in_cycles_has_the_unit_that_suits_it() {
        let of = |value: f64, half: f64| {
            cycle_count(&Interval { value, low: value - half, high: value + half })
        };
        assert_eq!(of(2_641.0, 26_406.0), ["3k", "27"]);
        assert_eq!(of(26_410.0, 310.0), ["26.4k", "0.4"]);
        assert_eq!(of(4.0, 0.01), ["4.00", "0.01"]);
    }

    #[test]
    fn a_bound_is_rounded_up() {
        assert_eq!(bound(0.01), "0.01 ns");
        assert_eq!(bound(0.0101), "0.011 ns");
        assert_eq!(bound(3.21), "3.3 ns");
        assert_eq!(bound(120.0), "120 ns");
    }
}
