//! The exchange rate on a page: a table in the usual unit, which the page's script sets in any other.

use crate::axis::Scale;
use crate::render::group_of;
use maud::{Markup, html};
use model::estimate::Verdict;
use model::figure::figure_in_unit;
use model::overview::Topic;
use model::phrases::counted;
use model::story::exchange_rate::{ExchangeRate, RateLine, count_text, half_text};
use model::unit::Unit;

/// Forms in which the table can be copied.
const COPIES: [(&str, &str); 4] =
    [("text", "text"), ("markdown", "Markdown"), ("svg", "SVG"), ("png", "PNG")];

pub(super) fn paint_rates(rate: &ExchangeRate) -> Markup {
    let shown = rate.shown();
    let usable = rate.lines.iter().filter_map(RateLine::usable);
    let axis = Scale::of_decades(usable.map(|ns| ns.value));
    let more = rate.lines.len() - shown;
    let unit = rate.unit.map(|unit| &rate.lines[unit]);
    html! {
        div #rates {
            @if unit.is_none() { p.bad { "No operation of this run has a time that can be relied on: there is no exchange rate." } }
            @else {
                div.controls role="group" aria-label="Unit of the exchange rate" {
                    label { "1 unit = " select #unit { (options(rate)) } }
                    @if more > 0 { label.switch { input #all type="checkbox" role="switch"; " All " (rate.lines.len()) " operations" } }
                    p.count #rate-message role="status" {}
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Exchange rate" {
                table.rates style={ "--decades:" (axis.decade_count()) } {
                    thead { tr {
                        th scope="col" { "operation" }
                        th.n scope="col" { "time" }
                        th.n scope="col" { "in units" }
                        th.n scope="col" { "±" }
                        th.c-axis scope="col" {
                            span.hidden { "time as a mark on a logarithmic axis" }
                            span.axis aria-hidden="true" { @for (share, name) in axis.units() { span style=(format!("left:{:.2}%", share * 100.0)) { (name) } } }
                        }
                    } }
                    tbody { @for (at, line) in rate.lines.iter().enumerate() { (operation(rate, line, at >= shown, &axis)) } }
                }
            }
            p.copy hidden {
                "Copy as"
                @for (kind, name) in COPIES { " " button type="button" data-as=(kind) { (name) span.hidden { ": exchange rate" } } }
            }
            ul.notes {
                li.topics-of { "Topics: " @for topic in Topic::ALL { b.(topic_class(topic)) { (topic.text()) } " " } }
                li { "Ratios have the interval of both times; where none is given it is below 1 %. Hollow marks and ~ are uncertain." }
                @if more > 0 { li { (counted(shown, "well-known operation")) "; the " (more) " other rows of the run that are times are shown by \u{201c}All operations\u{201d}." } }
                @if rate.left_out > 0 { li { (counted(rate.left_out, "row")) " left out: curves, maps, speeds and counts are no time of one operation." } }
            }
        }
    }
}

/// The class that colours what is about a topic.
pub(crate) fn topic_class(topic: Topic) -> &'static str {
    match topic {
        Topic::Cpu => "t-cpu",
        Topic::Memory => "t-memory",
        Topic::Kernel => "t-kernel",
        Topic::Threads => "t-threads",
        Topic::Io => "t-io",
    }
}

/// What can be the unit, by topic.
fn options(rate: &ExchangeRate) -> Markup {
    let of = |topic: Option<Topic>| {
        let lines = rate.lines.iter().enumerate();
        lines.filter(move |(_, line)| line.topic == topic && line.usable().is_some())
    };
    let option = |at: usize, line: &RateLine| {
        html! { option value=(line.key) selected[rate.unit == Some(at)] { (line.words) } }
    };
    html! {
        @for topic in Topic::ALL {
            @if of(Some(topic)).next().is_some() {
                optgroup label=(topic.text()) { @for (at, line) in of(Some(topic)) { (option(at, line)) } }
            }
        }
        @if of(None).next().is_some() {
            optgroup label="other rows" { @for (at, line) in of(None) { (option(at, line)) } }
        }
    }
}

fn operation(rate: &ExchangeRate, line: &RateLine, is_more: bool, axis: &Scale) -> Markup {
    let usable = line.usable();
    let count = rate.count(line);
    let doubt = line.verdict.filter(|&verdict| verdict != Verdict::Ok).map(Verdict::text);
    let doubt = doubt.unwrap_or(if line.verdict.is_none() { "not available" } else { "" });
    let text = line.ns.map(|ns| figure_in_unit(&ns, &Unit::Time).text());
    let title = if line.topic.is_some() { line.key.as_str() } else { group_of(&line.key) };
    html! {
        tr.more[is_more].(line.topic.map_or("", topic_class)) id={ "rate-" (line.key) } data-key=(line.key) data-ns=[usable.map(|ns| ns.value)]
            data-half=[usable.map(|ns| ns.relative_half_width())] data-why=[usable.is_none().then(|| line.why_not())]
        {
            th scope="row" {
                span.op title=(title) { (line.words) }
                @if !doubt.is_empty() || usable.is_none() {
                    " " span.why.inline title=(line.reason) { @if line.is_uncertain() { "~ " } (if doubt.is_empty() { line.why_not() } else { doubt.to_owned() }) }
                }
            }
            td.n { (text.as_deref().unwrap_or("-")) }
            td.n.in-units { (count.map_or("-".to_owned(), |count| count_text(&count))) }
            td.n.half { (count.map_or(String::new(), |count| half_text(&count))) }
            td.c-axis {
                @if let Some(x) = usable.and_then(|ns| axis.percent_at(ns.value)) {
                    svg aria-hidden="true" {
                        line.reach x1="0" x2=(x) y1="0" y2="0" {}
                        circle.(if line.is_uncertain() { "hollow" } else { "ok" }) cx=(x) {}
                    }
                }
            }
        }
    }
}
