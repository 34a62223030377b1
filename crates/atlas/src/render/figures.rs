//! Single figures as text.

use crate::references::{Beside, Reference, ReferenceRow};
use model::estimate::{Estimate, Typical, Verdict};
use model::figure::{Figure, decimals, figure, time_scale};
use model::stats::Interval;
use model::unit::Unit;

/// One frame at 60 Hz, ns: the budget that rows are set against.
const FRAME_NS: f64 = 1e9 / 60.0;

/// The figure to show first of an estimate, or that it is below resolution,
/// or nothing.
pub(super) enum Shown {
    Figure(Figure),
    Below(String),
    Nothing,
}

/// What to show of an estimate in a row's unit.
pub(super) fn shown(estimate: &Estimate, unit: &Unit) -> Shown {
    match (estimate.below_ns, estimate.ns()) {
        // A speed below resolution would read as a slow one.
        (Some(ns), _) if *unit == Unit::Time => Shown::Below(format!("< {}", bound(ns))),
        (Some(_), _) => Shown::Below("below resolution".into()),
        (None, Some(ns)) => Shown::Figure(figure(&ns, unit)),
        (None, None) => Shown::Nothing,
    }
}

/// An upper bound, rounded up to two digits: rounded down it would be wrong.
fn bound(ns: f64) -> String {
    let (scale, name) = time_scale(ns);
    let value = ns / scale;
    if value <= 0.0 || !value.is_finite() {
        return format!("? {name}");
    }
    let step = 10_f64.powf(value.log10().floor() - 1.0);
    let up = ((value / step) - 1e-6).ceil() * step;
    let places = (1 - up.log10().floor() as i32).max(0) as usize;
    let text = format!("{up:.places$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text} {name}")
}

/// Clock cycles, as far as their interval supports them.
pub(super) fn cycles(estimate: &Estimate) -> String {
    let cycles = estimate.quiet.and_then(|q| q.cycles);
    match (estimate.below_ns, cycles) {
        (None, Some(c)) => {
            // Beyond ten thousand nobody counts cycles one by one.
            let (scale, name) = match c.value {
                v if v >= 1e7 => (1e6, "M"),
                v if v >= 1e4 => (1e3, "k"),
                _ => (1.0, ""),
            };
            let places = decimals(c.value / scale, c.half_width() / scale);
            format!("{:.places$}{name}", c.value / scale)
        }
        _ => String::new(),
    }
}

/// Median with the 10 % and 90 % quantiles: `1.40 [1.38-1.52]`, in the unit of
/// the quiet figure beside it; its own unit stands with it where there is none.
pub(super) fn typical(estimate: &Estimate, unit: &Unit) -> String {
    let Some(t) = estimate.typical.filter(|_| estimate.below_ns.is_none()) else {
        return String::new();
    };
    let (low, high) = ends(&t, unit);
    let value = unit.of_ns(t.ns.value);
    let (scale, name) = match unit {
        Unit::Time => time_scale(estimate.ns().map_or(t.ns.value, |ns| ns.value)),
        Unit::Bandwidth { .. } => (1.0, "GB/s"),
        Unit::Frequency => (1.0, "GHz"),
    };
    // The spread says how many digits mean anything.
    let places = decimals(value / scale, (high - low).abs() / scale / 10.0).min(3);
    let set = |v: f64| format!("{:.places$}", v / scale);
    let text = format!("{} [{}-{}]", set(value), set(low), set(high));
    if estimate.quiet.is_some() {
        text
    } else {
        format!("{text} {name}")
    }
}

/// The two quantiles in a row's unit, the smaller first.
fn ends(t: &Typical, unit: &Unit) -> (f64, f64) {
    let (a, b) = (unit.of_ns(t.p10_ns), unit.of_ns(t.p90_ns));
    if unit.inverted() { (b, a) } else { (a, b) }
}

/// A time with 1 ns scaled to 1 s: `1.4 s`, `3 min`, `1.5 d`.
pub(super) fn human(ns: f64) -> String {
    const STEPS: [(f64, f64, &str); 5] = [
        (60.0, 1.0, "s"),
        (3_600.0, 60.0, "min"),
        (86_400.0, 3_600.0, "h"),
        (31_557_600.0, 86_400.0, "d"),
        (f64::INFINITY, 31_557_600.0, "y"),
    ];
    let (_, scale, name) = STEPS
        .into_iter()
        .find(|&(below, _, _)| ns.abs() < below)
        .unwrap_or(STEPS[4]);
    format!("{} {name}", two_digits(ns / scale))
}

/// How many operations fit into a frame at 60 Hz: `4.6 M`.
pub(super) fn frames(ns: f64) -> String {
    if ns <= 0.0 {
        return String::new();
    }
    let count = FRAME_NS / ns;
    let (scale, name) = match count {
        c if c >= 1e9 => (1e9, " G"),
        c if c >= 1e6 => (1e6, " M"),
        c if c >= 1e3 => (1e3, " k"),
        _ => (1.0, ""),
    };
    format!("{}{name}", two_digits(count / scale))
}

/// Two significant digits, more only where they stand before the point.
fn two_digits(value: f64) -> String {
    let digit = if value.abs() > 0.0 {
        value.abs().log10().floor() as i32
    } else {
        0
    };
    format!("{value:.*}", (1 - digit).clamp(0, 6) as usize)
}

/// A published figure as it was published: `7 ns`, `20 MB/s`.
pub(super) fn published(row: &ReferenceRow) -> String {
    match (row.ns, row.mb_per_s) {
        (Some(ns), _) => {
            // `100 ns`, not `100.0 ns`: no digits that were not published.
            let (scale, name) = time_scale(ns);
            let value = ns / scale;
            let text = format!("{value:.*}", decimals(value, 0.0));
            let value = match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.'),
                false => &text,
            };
            format!("{value} {name}")
        }
        (None, Some(speed)) => format!("{speed} MB/s"),
        (None, None) => String::new(),
    }
}

/// Ours over theirs, both as time; `None` where that would mean nothing.
fn ratio(estimate: &Estimate, unit: &Unit, beside: &Beside) -> Option<f64> {
    let ours = estimate.ns().filter(|_| estimate.below_ns.is_none())?;
    let untold = matches!(estimate.verdict, Verdict::CannotTell | Verdict::Invalid);
    if untold || !beside.comparable() {
        return None;
    }
    match (beside.row.ns, beside.row.mb_per_s, unit) {
        (Some(theirs), _, _) => Some(ours.value / theirs),
        (None, Some(theirs), Unit::Bandwidth { .. }) => {
            Some(theirs / 1000.0 / unit.of_ns(ours.value))
        }
        _ => None,
    }
}

/// A table's figure for one of our rows, and the ratio; a mark where there
/// can be none: `~` another operation that does the same job, `?` doubtful.
/// Both parts are padded, so that a column of them lines up.
pub(super) fn versus(id: &str, estimate: &Estimate, unit: &Unit, table: &Reference) -> String {
    let Some(beside) = table.beside(id) else {
        return String::new();
    };
    let mark = if beside.row.doubtful.is_some() {
        "?".to_owned()
    } else if !beside.same_operation {
        "~".to_owned()
    } else {
        ratio(estimate, unit, &beside).map_or(String::new(), |r| format!("{}x", ratio_digits(r)))
    };
    format!("{:>7} {mark:>5}", published(beside.row))
}

fn ratio_digits(ratio: f64) -> String {
    match ratio.abs() {
        r if r >= 100.0 => format!("{ratio:.0}"),
        r if r >= 0.995 => format!("{ratio:.1}"),
        r if r >= 0.01 => format!("{ratio:.2}"),
        r if r >= 0.001 => format!("{ratio:.3}"),
        _ => "<0.001".into(),
    }
}

/// An interval in GHz from one in ns a cycle.
pub(super) fn clock(cycle_ns: &Interval) -> String {
    let f = figure(cycle_ns, &Unit::Frequency);
    format!("{} {} ±{}", f.value, f.unit, f.half_width)
}

/// A stretch of time in words for headers: `31.2 s`.
pub(super) fn elapsed(ms: u64) -> String {
    format!("{:.1} s", ms as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_nanosecond_is_one_second() {
        let texts: Vec<String> = [0.412, 1.4, 100.0, 5_000.0, 129_600.0, 1e8]
            .map(human)
            .to_vec();
        assert_eq!(
            texts,
            ["0.41 s", "1.4 s", "1.7 min", "1.4 h", "1.5 d", "3.2 y"]
        );
    }

    #[test]
    fn operations_per_frame() {
        assert_eq!(frames(3.61), "4.6 M");
        assert_eq!(frames(0.01), "1.7 G");
        assert_eq!(frames(1e6), "17");
        assert_eq!(frames(1e9), "0.017");
        assert_eq!(frames(-1.0), "");
    }

    #[test]
    fn a_bound_is_rounded_up() {
        assert_eq!(bound(0.01), "0.01 ns");
        assert_eq!(bound(0.0101), "0.011 ns");
        assert_eq!(bound(3.21), "3.3 ns");
        assert_eq!(bound(120.0), "120 ns");
    }

    #[test]
    fn published_figures_gain_no_digits() {
        let of = |ns| {
            published(&ReferenceRow {
                ns: Some(ns),
                ..ReferenceRow::default()
            })
        };
        assert_eq!(
            [of(0.5), of(100.0), of(250_000.0)],
            ["0.5 ns", "100 ns", "250 µs"]
        );
        assert_eq!(of(104_137_671.1), "104 ms");
    }

    #[test]
    fn ratios_have_two_or_three_digits() {
        let texts = [0.0001, 0.0012, 0.5234, 0.999, 14.24, 1234.5].map(ratio_digits);
        assert_eq!(texts, ["<0.001", "0.001", "0.52", "1.0", "14.2", "1234"]);
    }
}
