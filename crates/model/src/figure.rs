//! Figures as text: three significant digits, and never more than the
//! interval supports.

use crate::stats::Interval;
use crate::unit::Unit;

/// The power of ten of a number's first digit: 1 of 42; 0 where it has none.
pub fn magnitude(value: f64) -> i32 {
    match value.abs() {
        size if size > 0.0 && size.is_finite() => size.log10().floor() as i32,
        _ => 0,
    }
}

/// Half an interval at so many decimals, rounded up: ±0 would claim too much.
pub fn half_at(half: f64, places: usize) -> f64 {
    let step = 10_f64.powi(-(places as i32));
    (half / step - 1e-9).ceil().max(0.0) * step
}

/// Decimals that show `value` with three significant digits, fewer where the
/// interval's half width says that the last ones mean nothing (one digit of
/// the half width is kept).
pub fn decimals(value: f64, half_width: f64) -> usize {
    /// Digits below that are rounding errors.
    const MOST: i32 = 12;
    let by_value = 2 - magnitude(value);
    let by_width =
        if half_width > 0.0 && half_width.is_finite() { -magnitude(half_width) } else { by_value };
    by_value.min(by_width.max(0)).clamp(0, MOST) as usize
}

/// Whether an interval leaves its value a digit: half of it is less than the value.
pub fn leaves_a_digit(interval: &Interval) -> bool {
    interval.relative_half_width() < 1.0
}

/// A time in the unit that suits it: `0.412 ns`, `14.2 ns`, `3.1 µs`.
pub fn time(ns: f64) -> String {
    value_text(&Unit::Time, ns)
}

/// What is rounded to three digits reads as 1000 from here on, which is 1 of
/// the next unit.
const ROUNDS_UP: f64 = 999.5;

/// Divisor and name of the unit that suits a time.
pub fn time_scale(ns: f64) -> (f64, &'static str) {
    match ns.abs() {
        a if a < ROUNDS_UP => (1.0, "ns"),
        a if a < ROUNDS_UP * 1e3 => (1e3, "µs"),
        a if a < ROUNDS_UP * 1e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// Divisor and name that suit a value in a row's unit: what [`Unit::of_ns`]
/// gives is divided by it. Bytes by powers of 1024.
pub fn scale_of(unit: &Unit, value: f64) -> (f64, &'static str) {
    const STEP: f64 = 1024.0;
    match unit {
        Unit::Time => time_scale(value),
        Unit::Bandwidth { .. } => (1.0, "GB/s"),
        Unit::Frequency => (1.0, "GHz"),
        // Up to a hundred thousand events are read one by one.
        Unit::Count => match value.abs() {
            a if a < 1e5 => (1.0, ""),
            a if a < ROUNDS_UP * 1e3 => (1e3, "k"),
            a if a < ROUNDS_UP * 1e6 => (1e6, "M"),
            _ => (1e9, "G"),
        },
        Unit::Bytes => match value.abs() {
            a if a < STEP => (1.0, "B"),
            a if a < STEP.powi(2) => (STEP, "KiB"),
            a if a < STEP.powi(3) => (STEP.powi(2), "MiB"),
            _ => (STEP.powi(3), "GiB"),
        },
    }
}

/// A value of a row's unit with three significant digits: `3.1 µs`, `42`,
/// `1.61 MiB`. Whole numbers of events have no digits after the point, and
/// nothing is `0 ns`: three digits of it would claim a resolution.
pub fn value_text(unit: &Unit, value: f64) -> String {
    let (scale, name) = scale_of(unit, value);
    let places = match value == 0.0 {
        true => 0,
        false => decimals_in_unit(unit, value, 0.0, scale),
    };
    format!("{:.places$} {name}", value / scale).trim_end().into()
}

/// Decimals of a value and the half of its interval once divided by `scale`.
fn decimals_in_unit(unit: &Unit, value: f64, half: f64, scale: f64) -> usize {
    let whole = |v: f64| v.fract() == 0.0 || v.is_infinite();
    if *unit == Unit::Count && scale == 1.0 && whole(value) && whole(half) {
        return 0;
    }
    decimals(value / scale, half / scale)
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

impl Figure {
    /// The number with its unit: `3.61 ns`, `42`.
    pub fn text(&self) -> String {
        format!("{} {}", self.value, self.unit).trim_end().into()
    }

    /// The same, and half of its interval with its sign: `±0.04`.
    pub fn number_and_half(&self) -> [String; 2] {
        [self.text(), format!("±{}", self.half_width)]
    }

    /// Half of the interval with its sign where it stands alone: `±0.04 ns`; one that has a unit of its
    /// own or is a share keeps that.
    pub fn half_with_unit(&self) -> String {
        match self.half_width.contains(' ') {
            true => format!("±{}", self.half_width),
            false => format!("±{} {}", self.half_width, self.unit).trim_end().into(),
        }
    }
}

/// A number's text without zeros at its end.
pub fn without_zeros(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// Sets an interval in ns per operation as text in a row's unit.
pub fn figure_in_unit(ns: &Interval, unit: &Unit) -> Figure {
    let value = unit.of_ns(ns.value);
    let half = match unit.inverted() {
        // Relative width is kept under inversion, to first order.
        true => value.abs() * ns.relative_half_width(),
        false => ns.half_width(),
    };
    let (scale, name) = scale_of(unit, value);
    let [text, half_width] = in_scale(unit, value, half, scale);
    Figure { value: text, half_width, unit: name }
}

/// A value of a row's unit and half of its interval, both divided by `scale`,
/// as text: with as many digits as the interval supports.
pub fn in_scale(unit: &Unit, value: f64, half: f64, scale: f64) -> [String; 2] {
    let places = decimals_in_unit(unit, value, half, scale);
    let half_text = match half.is_finite() {
        true if unit.inverted() && half >= value.abs() => ">100 %".into(),
        // In a unit of its own: `1689 ns ±2930 µs`.
        true if scale_of(unit, half).0 > scale => self::value_text(unit, half),
        _ => half_width_text(half / scale, places),
    };
    let text = format!("{:.places$}", value / scale);
    [plain_zero(text), half_text]
}

/// What rounds to nothing as `0`, without sign or decimals: `0.00 ns` would
/// claim a resolution.
pub fn plain_zero(text: String) -> String {
    match is_zero(&text) {
        true => "0".into(),
        false => text,
    }
}

/// Whether a number's text has no digit but 0.
pub fn is_zero(text: &str) -> bool {
    !text.contains(|c: char| ('1'..='9').contains(&c) || c == '?')
}

/// The half width at the figure's decimals.
fn half_width_text(half: f64, decimals: usize) -> String {
    match half.is_finite() {
        true => format!("{:.decimals$}", half_at(half, decimals)),
        false => "?".into(),
    }
}

/// A text of a number that is nothing has no sign.
pub(crate) fn without_sign_of_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if is_zero(rest) => rest.to_owned(),
        _ => text,
    }
}

/// A plain number of three digits, fewer where its interval supports fewer;
/// zeros in the places of the others: `104000000`.
pub fn number_of_digits(value: f64, half: f64) -> String {
    let has_digits = value.abs() > 0.0 && value.is_finite();
    let by_width = |half: f64| match half > 0.0 && half.is_finite() {
        true => magnitude(half),
        false => i32::MIN,
    };
    let last = match has_digits {
        true => (magnitude(value) - 2).max(by_width(half)),
        false => 0,
    };
    if last <= 0 {
        return without_sign_of_zero(format!("{value:.*}", decimals(value, half)));
    }
    let step = 10_f64.powi(last);
    without_sign_of_zero(format!("{:.0}", (value / step).round() * step))
}

/// A plain number with half of its interval, for sentences: `1.03 ±0.04`.
pub fn number_with_half(number: &Interval) -> String {
    number_parts(number).join(" ").trim_end().to_owned()
}

/// A plain number, and half of its interval with its sign: `1.03` and `±0.04`. Where half of it
/// would reach below 0 and the interval does not, both ends stand with the number:
/// `2.0 (1.1 to 11.2)` and nothing.
pub fn number_parts(number: &Interval) -> [String; 2] {
    let half = number.half_width();
    if number.low > 0.0 && half >= number.value && half.is_finite() {
        let places = decimals(number.value, number.value / 10.0);
        let [value, low, high] =
            [number.value, number.low, number.high].map(|v| format!("{v:.places$}"));
        return [format!("{value} ({low} to {high})"), String::new()];
    }
    let places = decimals(number.value, half);
    let half = half_at(half, places);
    let [value, half] = [number.value, half].map(|v| without_sign_of_zero(format!("{v:.places$}")));
    [value, format!("±{half}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_claim_no_digit_that_is_not_known() {
        let texts = [
            (0.15312, 0.001),
            (1.0714, 0.01),
            (412.3, 2.9),
            (18_437.0, 212.0),
            (104_137_671.1, 0.0),
            (104_137_671.1, 2e7),
            (-3_140.0, 210.0),
            (3.0, 40.0),
            (0.0, 0.0),
        ]
        .map(|(value, half)| number_of_digits(value, half));
        let expected =
            ["0.153", "1.07", "412", "18400", "104000000", "100000000", "-3100", "0", "0.00"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn an_interval_as_wide_as_its_value_leaves_no_digit() {
        let leaves = |value: f64, half: f64| {
            leaves_a_digit(&Interval { value, low: value - half, high: value + half })
        };
        assert!(leaves(602.0, 590.0) && leaves(-3.1, 0.2) && leaves(7.0, 0.0));
        assert!(!leaves(602.0, 1_200.0) && !leaves(0.0, 1.0) && !leaves(5.0, f64::INFINITY));
    }

    #[test]
    fn nothing_has_no_sign() {
        assert_eq!(without_sign_of_zero("-0.00".into()), "0.00");
        assert_eq!(without_sign_of_zero("-0.03".into()), "-0.03");
    }

    #[test]
    fn a_tiny_figure_has_few_digits() {
        assert_eq!(decimals(1e-320, 0.0), 12);
        assert_eq!(decimals(0.001_23, 0.0), 5);
        assert_eq!(time(1e-320), "0.000000000000 ns");
    }

    #[test]
    fn what_rounds_to_a_thousand_is_one_of_the_next_unit() {
        let unit = |ns| time_scale(ns).1;
        assert_eq!([999.4, 999.5].map(unit), ["ns", "µs"]);
        assert_eq!([999.4e3, 999.5e3].map(unit), ["µs", "ms"]);
        assert_eq!([999.4e6, -999.5e6].map(unit), ["ms", "s"]);
    }

    fn figure_of(value: f64, half: f64) -> Figure {
        figure_in_unit(&Interval { value, low: value - half, high: value + half }, &Unit::Time)
    }

    #[test]
    fn never_more_digits_than_the_interval_supports() {
        assert_eq!(figure_of(3.6149, 0.04).value, "3.61");
        assert_eq!(figure_of(3.6149, 0.4).value, "3.6");
        assert_eq!(figure_of(36.149, 4.0).value, "36");
        assert_eq!(figure_of(0.41237, 0.0001).value, "0.412");
        assert_eq!(figure_of(0.41237, 0.0001).half_width, "0.001");
        assert_eq!(figure_of(96.3, 0.0).value, "96.3");
        assert_eq!(figure_of(1523.0, 3.0).value, "1.52");
    }

    #[test]
    fn a_half_width_has_the_unit_that_suits_it() {
        let shown = figure_of(1689.0, 2_929_603.0);
        assert_eq!((shown.value.as_str(), shown.half_width.as_str()), ("2", "2.93 ms"));
        assert_eq!(shown.half_with_unit(), "±2.93 ms");
        assert_eq!(figure_of(2_641.0, 26_406.0).half_with_unit(), "±27 µs");
        assert_eq!(figure_of(900.0, 12_000.0).half_width, "12.0 µs");
        assert_eq!(figure_of(20_000.0, 3_000_000.0).half_width, "3.00 ms");
        // What is about 0 is known in ns.
        assert_eq!(figure_of(-0.04, 0.5).half_width, "0.5");
        assert_eq!(figure_of(-0.04, 0.5).value, "0");
        assert_eq!(figure_of(0.0, 0.0).value, "0");
        assert_eq!(figure_of(60.0, 250.0).half_width, "250");
        let vague = Interval { value: 0.4, low: 0.1, high: 900.0 };
        let speed = figure_in_unit(&vague, &Unit::Bandwidth { bytes_per_op: 4.0 });
        assert_eq!(speed.half_with_unit(), "±>100 %");
        assert_eq!(time(0.0), "0 ns");
    }

    #[test]
    fn counts_and_bytes_are_no_times() {
        let of = |value: f64, half: f64, unit| {
            let f =
                figure_in_unit(&Interval { value, low: value - half, high: value + half }, &unit);
            f.number_and_half().join(" ")
        };
        assert_eq!(of(3.0, 0.0, Unit::Count), "3 ±0");
        assert_eq!(of(3.5, 0.5, Unit::Count), "3.5 ±0.5");
        assert_eq!(of(151.0, 12.0, Unit::Count), "151 ±12");
        assert_eq!(of(32_427_294_227.0, 1e8, Unit::Count), "32.4 G ±0.1");
        assert_eq!(of(0.9934, 0.0012, Unit::Count), "0.993 ±0.002");
        assert_eq!(of(3_565_158.4, 104_857.6, Unit::Bytes), "3.4 MiB ±0.1");
        assert_eq!(value_text(&Unit::Bytes, 1_048_576.0), "1.00 MiB");
        assert_eq!(value_text(&Unit::Bytes, 100.0), "100 B");
        assert_eq!(value_text(&Unit::Count, 0.0), "0");
        assert_eq!(value_text(&Unit::Time, 0.0), "0 ns");
        assert_eq!(value_text(&Unit::Count, 161.0), "161");
        assert_eq!(value_text(&Unit::Time, 12_340.0), "12.3 µs");
    }

    #[test]
    fn units_follow_the_size() {
        assert_eq!(time(0.5), "0.500 ns");
        assert_eq!(time(12_340.0), "12.3 µs");
        assert_eq!(time(52_226_907.0), "52.2 ms");
        let half_a_cycle = Interval { value: 0.4, low: 0.396, high: 0.404 };
        let ghz = figure_in_unit(&half_a_cycle, &Unit::Frequency);
        assert_eq!((ghz.value.as_str(), ghz.unit), ("2.50", "GHz"));
        let bandwidth = figure_in_unit(&half_a_cycle, &Unit::Bandwidth { bytes_per_op: 4.0 });
        assert_eq!(bandwidth.value, "10.0");
        assert_eq!(bandwidth.half_width, "0.1");
    }
}
