//! Shares and changes as text, each by one rule.

use crate::figure::{half_at, number_parts};
use crate::stats::Interval;

/// A measured share: two digits, never rounded to nothing or to all: `97 %`,
/// `9.7 %`, `0.97 %`, `< 0.01 %`, `99.6 %`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if !p.is_finite() => "?".into(),
        p if p >= 1000.0 => "> 1000 %".into(),
        // Up to the rounding of sums.
        p if p >= 100.0 - 1e-9 => format!("{p:.0} %"),
        p if p >= 99.995 => "> 99.99 %".into(),
        p if p >= 99.95 => format!("{p:.2} %"),
        p if p >= 99.5 => format!("{p:.1} %"),
        p if p >= 9.95 => format!("{p:.0} %"),
        p if p >= 0.995 => format!("{p:.1} %"),
        p if p >= 0.01 => format!("{p:.2} %"),
        p if p > 0.0 => "< 0.01 %".into(),
        _ => "0 %".into(),
    }
}

/// The least and the most of several shares: `9.7 to 14 %`, once where both read the same.
pub fn range(least: f64, most: f64) -> String {
    let [least, most] = [least, most].map(percent);
    match least == most {
        true => least,
        false => format!("{} to {most}", least.trim_end_matches(" %")),
    }
}

/// A share, and half of its interval with its sign, with the digits that the interval supports:
/// `12 %` and `±3`.
pub fn share_and_half(share: &Interval) -> [String; 2] {
    let [value, half] = number_parts(&share.scaled(100.0));
    [format!("{value} %"), half]
}

/// The same in a sentence: `12 % ±3`.
pub fn with_half(share: &Interval) -> String {
    share_and_half(share).join(" ").trim_end().into()
}

/// A bound, rounded up, as less would claim too much: `0.8 %`, `13 %`.
pub fn bound(share: f64) -> String {
    let percent = share * 100.0;
    let places = usize::from(percent < 9.95);
    match half_at(percent, places) {
        _ if !percent.is_finite() => "?".into(),
        // Of a figure that may be nothing a percentage says nothing.
        up if up > 100.0 => ">100 %".into(),
        up => format!("{up:.places$} %"),
    }
}

/// Half of an interval as a share of its figure: `±0.8 %`.
pub fn half(share: f64) -> String {
    format!("±{}", bound(share))
}

/// A share that was set, as it was set: `5 %`, `0.3 %`.
pub fn limit(share: f64) -> String {
    // 0.07 times 100 is 7.000000000000001.
    format!("{} %", (share * 1e8).round() / 1e6)
}

/// A ratio as a change: `+3.2 %`.
pub fn change(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

/// The interval of a change: `[+2.1, +4.3]`, in percent.
pub fn change_ends(ratio: &Interval) -> String {
    let [low, high] = [ratio.low, ratio.high].map(change);
    format!("[{}, {}]", low.trim_end_matches(" %"), high.trim_end_matches(" %"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(value: f64, half: f64) -> Interval {
        Interval { value, low: value - half, high: value + half }
    }

    #[test]
    fn a_share_has_two_digits_and_is_never_rounded_to_nothing_or_all() {
        let texts = [0.0, 0.000_01, 0.001_234, 0.012_34, 0.1234, 0.994, 0.9964, 0.9996, 0.999_99]
            .map(percent);
        let expected = [
            "0 %",
            "< 0.01 %",
            "0.12 %",
            "1.2 %",
            "12 %",
            "99 %",
            "99.6 %",
            "99.96 %",
            "> 99.99 %",
        ];
        assert_eq!(texts, expected);
        let texts = [1.0 - 1e-16, 1.5, 20.0, f64::INFINITY].map(percent);
        assert_eq!(texts, ["100 %", "150 %", "> 1000 %", "?"]);
        assert_eq!([range(0.97, 0.994), range(0.5, 0.5)], ["97 to 99 %", "50 %"]);
    }

    #[test]
    fn an_interval_says_how_many_digits() {
        let texts = [(0.1234, 0.031), (0.1234, 0.0003), (0.000_42, 0.000_12)]
            .map(|(share, half)| with_half(&around(share, half)));
        assert_eq!(texts, ["12 % ±4", "12.3 % ±0.1", "0.04 % ±0.02"]);
    }

    #[test]
    fn half_widths_are_rounded_up() {
        let texts = [0.0071, 0.01, 0.000_005, 0.0, 0.121, 3.0, f64::INFINITY].map(half);
        assert_eq!(texts, ["±0.8 %", "±1.0 %", "±0.1 %", "±0.0 %", "±13 %", "±>100 %", "±?"]);
    }

    #[test]
    fn a_limit_reads_as_it_was_set() {
        for text in ["7", "0.3", "10", "33.3", "1000", "0.0001"] {
            let share = text.parse::<f64>().expect("a number") / 100.0;
            assert_eq!(limit(share), format!("{text} %"));
        }
    }

    #[test]
    fn changes_have_a_sign() {
        let ratio = around(1.032, 0.011);
        assert_eq!([change(ratio.value), change_ends(&ratio)], ["+3.2 %", "[+2.1, +4.3]"]);
    }
}
