//! The ladder of common operations: a mark for each on one axis.

use super::super::content::Content;
use super::super::marks::Marks;
use super::against;
use crate::against::Against;
use crate::axis::{Scale, is_unit};
use crate::render::figures::human;
use crate::render::overview_cost;
use maud::{Markup, html};
use model::estimate::Verdict;
use model::overview::{Line, Topic};

/// Decades of which not each has room for its name.
const CROWDED: i32 = 8;

/// The card with the operations that were measured, the cheapest first; those that are invalid last.
pub(super) fn card(content: &Content, lines: Vec<Line>) -> Markup {
    let (lines, missing): (Vec<Line>, Vec<Line>) =
        lines.into_iter().partition(|line| line.verdict.is_some());
    let all = against::all(content, &lines);
    let of_others = |line: &Line| all.iter().filter_map(|one| one.of_line(line)).collect();
    let times = lines.iter().flat_map(|line| [Marks::of_line(line).times_ns(), of_others(line)]);
    let axis = Scale::of_decades(times.flatten());
    html! {
        section.card aria-labelledby="h-overview" {
            h2 #h-overview { "The ladder" }
            (against::choice(&all))
            p.lead { "One operation, on a logarithmic axis. Below the times: if 1 ns were 1 second." }
            div.steps style={ "--decades:" (axis.decade_count()) } {
                div.scale .crowded[axis.decade_count() > CROWDED] aria-hidden="true" {
                    div { @for (power, tick) in axis.powers_of_ten() {
                        span.unit[is_unit(power)] style={ "left:" (axis.percent_at(tick.value).unwrap_or_default()) } {
                            b { (tick.label) }
                            small { (human(tick.value)) }
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

fn class(topic: Topic) -> &'static str {
    match topic {
        Topic::Cpu => "t-cpu",
        Topic::Memory => "t-memory",
        Topic::Kernel => "t-kernel",
        Topic::Threads => "t-threads",
        Topic::Io => "t-io",
    }
}

fn step(line: &Line, axis: &Scale, all: &[Against]) -> Markup {
    let doubt = line.verdict.filter(|&verdict| verdict != Verdict::Ok);
    html! {
        li.(class(line.operation.topic)) {
            a href={ "#row-" (line.row.id) } title=(line.row.id) { (line.words()) }
            (Marks::of_line(line).draw(axis, &against::marks(all, line, axis)))
            span.cost .uncertain[line.is_uncertain()] {
                (overview_cost(line))
                @if let Some(verdict) = doubt { span.hidden { ", " (verdict.text()) } }
            }
            (against::texts(all, line))
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
