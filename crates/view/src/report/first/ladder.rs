//! The ladder of common operations: a mark for each on one axis.

use super::super::content::Content;
use super::against::{self, Against};
use crate::decades::{Axis, decade};
use crate::render::figures::human;
use crate::render::overview_cost;
use maud::{Markup, html};
use model::estimate::Verdict;
use model::overview::{Line, Topic};

/// Decades of which not each has room for its name.
const CROWDED: i32 = 8;

/// The card with the operations that have a figure, the cheapest first.
pub(super) fn card(content: &Content, lines: Vec<Line>) -> Markup {
    let (mut lines, missing): (Vec<Line>, Vec<Line>) =
        lines.into_iter().partition(|line| line.verdict.is_some());
    let cost = |line: &Line| line.ns.map_or(0.0, |ns| ns.value);
    lines.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let all = Against::all(content, &lines);
    let axis = Axis::over(lines.iter().flat_map(|line| times(line, &all)));
    html! {
        section.card aria-labelledby="h-overview" {
            h2 #h-overview { "The ladder" }
            (against::choice(&all))
            p.lead { "One operation, on a logarithmic axis. Below the times: if 1 ns were 1 second." }
            div.steps style={ "--decades:" (axis.decades()) } {
                div.scale .crowded[axis.decades() > CROWDED] aria-hidden="true" {
                    div { @for (at, power) in axis.powers() {
                        span.unit[power.rem_euclid(3) == 0] style=(format!("left:{at:.2}%")) {
                            b { (decade(power)) }
                            small { (human(10_f64.powi(power))) }
                        }
                    } }
                }
                ol role="list" { @for line in &lines { (step(line, &axis, &all)) } }
            }
            @if !missing.is_empty() {
                p.missing {
                    "Not available here: "
                    @for (at, line) in missing.iter().enumerate() {
                        @if at > 0 { ", " }
                        a href={ "#row-" (line.row.id) } { (line.words()) }
                    }
                }
            }
            (key(&all))
        }
    }
}

/// Everything of a line that is drawn.
fn times<'l>(line: &'l Line, all: &'l [Against]) -> impl Iterator<Item = f64> + use<'l> {
    let spread = line.spread_ns.map(|(low, high)| [low, high]);
    let spread = spread.into_iter().flatten();
    let figure = line.ns.map(|ns| ns.value);
    let others = all.iter().filter_map(|one| one.ns(line));
    spread.chain(figure).chain(others)
}

fn class(topic: Topic) -> &'static str {
    match topic {
        Topic::Cpu => "t-cpu",
        Topic::Memory => "t-memory",
        Topic::Kernel => "t-kernel",
        Topic::Threads => "t-threads",
        Topic::Io => "t-io",
    }
}

fn step(line: &Line, axis: &Axis, all: &[Against]) -> Markup {
    let doubt = line.verdict.filter(|&verdict| verdict != Verdict::Ok);
    html! {
        li.(class(line.operation.topic)) {
            a href={ "#row-" (line.row.id) } title=(line.row.id) { (line.words()) }
            (drawing(line, axis, all))
            span.cost .uncertain[line.is_uncertain()] {
                (overview_cost(line))
                @if let Some(verdict) = doubt { span.hidden { ", " (verdict.text()) } }
            }
            (against::texts(all, line))
        }
    }
}

/// The line's marks. All that they say stands as text beside them, or in the
/// table of all rows, so they are hidden from readers of screens.
fn drawing(line: &Line, axis: &Axis, all: &[Against]) -> Markup {
    let at = |ns: f64| axis.percent(ns).map(|percent| format!("{percent:.2}%"));
    let figure = line.ns.and_then(|ns| at(ns.value));
    let spread = line.spread_ns.and_then(|(low, high)| at(low).zip(at(high)));
    html! {
        svg aria-hidden="true" {
            @if let Some(to) = &figure { line.reach x2=(to) y1="50%" y2="50%" {} }
            @if let Some((from, to)) = spread { line.spread x1=(from) x2=(to) y1="50%" y2="50%" {} }
            @for (place, one) in all.iter().enumerate() {
                @if let Some(percent) = one.ns(line).and_then(|ns| axis.percent(ns)) {
                    (one.mark(place, line, percent))
                }
            }
            @if let Some(x) = &figure {
                circle.(if line.is_uncertain() { "hollow" } else { "ok" }) cx=(x) cy="50%" r="5" {
                    title { (line.row.id) @if let Some(verdict) = line.verdict { ": " (verdict.text()) } }
                }
            }
        }
    }
}

fn key(all: &[Against]) -> Markup {
    html! {
        p.marks {
            span { svg aria-hidden="true" viewBox="-8 -8 16 16" { circle.ok r="5" {} } " holds" }
            span { svg aria-hidden="true" viewBox="-8 -8 16 16" { circle.hollow r="5" {} } " uncertain" }
            span { svg aria-hidden="true" viewBox="-8 -8 16 16" { line.spread x1="-8" x2="8" {} } " middle 80 % of all samples" }
            (against::key(all))
            span.topics { @for topic in Topic::ALL { b.(class(topic)) { (topic.text()) } " " } }
        }
    }
}
