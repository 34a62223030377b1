//! Figures and times as the pages write them.

use atlas::index::KeptResult;
use maud::{Markup, html};
use model::estimate::Verdict;
use model::figure::figure;
use model::stats::Interval;
use model::unit::Unit;

/// Value, half of the interval, and nothing that the interval does not
/// support.
pub(super) struct Shown {
    pub(super) value: String,
    pub(super) half: String,
}

/// A figure as it is shown in its unit.
pub(super) fn shown(result: &KeptResult) -> Shown {
    let alone = |value: String| Shown {
        value,
        half: String::new(),
    };
    match (result.below_ns, result.value) {
        (Some(bound), _) if result.unit == Unit::Time => {
            alone(format!("< {}", model::figure::time(bound)))
        }
        (Some(_), _) => alone("below resolution".into()),
        (None, None) => alone("-".into()),
        (None, Some(interval)) => of_interval(&interval, &result.unit),
    }
}

/// An interval in a row's unit.
pub(super) fn of_interval(interval: &Interval, unit: &Unit) -> Shown {
    let text = figure(interval, unit);
    Shown {
        value: format!("{} {}", text.value, text.unit)
            .trim_end()
            .to_owned(),
        half: format!("±{}", text.half_width),
    }
}

/// A bare value in a row's unit.
pub(super) fn of_value(ns: f64, unit: &Unit) -> String {
    model::figure::value(unit, unit.of_ns(ns))
}

/// A verdict with its colour and its reason.
pub(super) fn verdict(verdict: Option<Verdict>, reason: &str) -> Markup {
    let (class, word) = match verdict {
        Some(Verdict::Ok) => ("ok", Verdict::Ok.text()),
        Some(known @ (Verdict::Noisy | Verdict::TwoStates)) => ("doubtful", known.text()),
        Some(known) => ("bad", known.text()),
        None => ("soft", "not measured"),
    };
    html! {
        span class=(class) { (word) }
        @if !reason.is_empty() { " " span.soft { (reason) } }
    }
}

/// A point as it stands behind a row's name.
pub(super) fn point(at: &[u64]) -> String {
    at.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// A part of an address: everything but plain letters is escaped.
pub(super) fn escaped(text: &str) -> String {
    use std::fmt::Write;
    let mut all = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                all.push(byte as char);
            }
            _ => {
                let _ = write!(all, "%{byte:02X}");
            }
        }
    }
    all
}

/// Address of a row's page.
pub(super) fn row_path(row: &str, at: &[u64]) -> String {
    match at.is_empty() {
        true => format!("/row?row={}", escaped(row)),
        false => format!("/row?row={}&at={}", escaped(row), point(at)),
    }
}

/// A machine, by its host's name first: lines of machines may be the same.
pub(super) fn on(host: Option<&str>, line: &str) -> String {
    match host {
        Some(host) => format!("{host}: {line}"),
        None => line.to_owned(),
    }
}

/// When, for people.
pub(super) fn when(unix_ms: u64) -> String {
    atlas::utc::text(unix_ms)
}

/// How long, for people.
pub(super) fn long(ms: u64) -> String {
    model::figure::time(ms as f64 * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_nothing_that_means_something_there() {
        assert_eq!(escaped("memory.latency/L1"), "memory.latency%2FL1");
        assert_eq!(escaped("a&b=c?d#e\"<é"), "a%26b%3Dc%3Fd%23e%22%3C%C3%A9");
        assert_eq!(row_path("a/b", &[4096, 64]), "/row?row=a%2Fb&at=4096,64");
    }
}
