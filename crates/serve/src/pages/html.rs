//! Tables, links, figures and times as the pages write them.

use maud::{Markup, html};
use model::estimate::Verdict;
use model::stats::Interval;
use model::summary::{KeptResult, KeptRun};
use model::unit::Unit;

/// A column: its heading, the class of its cells, and what is in them.
pub(super) type Column<'c, T> = (&'c str, &'c str, &'c dyn Fn(&T) -> Markup);

/// A table that scrolls by itself on a narrow screen, by keyboard too. The
/// first column names the row.
pub(super) fn table<'r, T: 'r>(
    label: &str,
    rows: impl IntoIterator<Item = &'r T>,
    columns: &[Column<T>],
) -> Markup {
    html! {
        div.scroll role="region" aria-label=(label) tabindex="0" {
            table {
                thead { tr { @for (name, class, _) in columns { th class=(class) { (name) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, (_, class, cell)) in columns.iter().enumerate() {
                                @if at == 0 {
                                    th scope="row" class=(class) { (cell(row)) }
                                } @else {
                                    td class=(class) { (cell(row)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn link(to: impl AsRef<str>, text: impl AsRef<str>) -> Markup {
    html! { a href=(to.as_ref()) { (text.as_ref()) } }
}

pub(super) fn text(text: impl std::fmt::Display) -> Markup {
    html! { (text.to_string()) }
}

/// A row or a point of it, with a link to its page.
pub(super) fn row_link(row: &str, at: &[u64]) -> Markup {
    link(row_path(row, at), row_name(row, at))
}

pub(super) fn row_path(row: &str, at: &[u64]) -> String {
    match at.is_empty() {
        true => format!("/row?row={}", in_query(row)),
        false => format!("/row?row={}&at={}", in_query(row), point(at)),
    }
}

pub(super) fn row_name(row: &str, at: &[u64]) -> String {
    match at.is_empty() {
        true => row.to_owned(),
        false => format!("{row} at {}", point(at)),
    }
}

/// A machine by its host name, since two may have the same line.
pub(super) fn machine_link(key: &str, host: Option<&str>, line: &str) -> Markup {
    link(format!("/machines/{key}"), machine_name(host, line))
}

pub(super) fn machine_name(host: Option<&str>, line: &str) -> String {
    host.map_or_else(|| line.to_owned(), |host| format!("{host}: {line}"))
}

/// When a run started, with a link to its page.
pub(super) fn run_link(run: &KeptRun) -> Markup {
    link(format!("/runs/{}", run.id), when(run.started_unix_ms))
}

pub(super) fn point(at: &[u64]) -> String {
    at.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// A value behind the `?` of an address.
pub(super) fn in_query(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

pub(super) fn when(unix_ms: u64) -> String {
    model::utc::text(unix_ms)
}

pub(super) fn duration(ms: u64) -> String {
    model::figure::time(ms as f64 * 1e6)
}

/// A figure in its unit, and half of its 95 % interval.
pub(super) fn figure(result: &KeptResult) -> (String, String) {
    let single = |value: String| (value, String::new());
    match (result.below_ns, result.value) {
        (Some(bound), _) if result.unit == Unit::Time => {
            single(format!("< {}", model::figure::time(bound)))
        }
        (Some(_), _) => single("below resolution".into()),
        (None, None) => single("-".into()),
        (None, Some(interval)) => interval_in(&interval, &result.unit),
    }
}

pub(super) fn interval_in(interval: &Interval, unit: &Unit) -> (String, String) {
    let figure = model::figure::figure(interval, unit);
    let value = format!("{} {}", figure.value, figure.unit);
    let half = format!("±{}", figure.half_width);
    (value.trim_end().to_owned(), half)
}

/// A value without interval, in a row's unit.
pub(super) fn value(ns: f64, unit: &Unit) -> Markup {
    text(model::figure::value(unit, unit.of_ns(ns)))
}

pub(super) fn verdict(result: &KeptResult) -> Markup {
    let (class, word) = match result.verdict {
        Some(Verdict::Ok) => ("ok", Verdict::Ok.text()),
        Some(known @ (Verdict::Noisy | Verdict::TwoStates)) => ("doubtful", known.text()),
        Some(known) => ("bad", known.text()),
        None => ("soft", "not measured"),
    };
    html! {
        span class=(class) { (word) }
        @if !result.reason.is_empty() { " " span.soft { (result.reason) } }
    }
}
