//! The ladder of common operations: a mark for each on one axis.

use super::super::content::Content;
use super::super::marks::Marks;
use super::against;
use crate::against::Against;
use crate::axis::{Scale, is_unit};
use crate::html::topic_class as class;
use crate::render::figures::human;
use crate::render::overview_cost;
use maud::{Markup, html};
use model::estimate::Verdict;
use model::overview::{OverviewLine, Topic};

/// Decades of which not each has room for its name.
const CROWDED: i32 = 8;

/// The card with the operations that have a figure, the cheapest first; below it the names of the others.
pub(super) fn card(content: &Content, lines: Vec<OverviewLine>) -> Markup {
    let (lines, missing): (Vec<OverviewLine>, Vec<OverviewLine>) =
        lines.into_iter().partition(|line| line.verdict.is_some());
    let (lines, invalid): (Vec<OverviewLine>, Vec<OverviewLine>) =
        lines.into_iter().partition(|line| line.verdict != Some(Verdict::Invalid));
    let all = against::all_against(content, &lines);
    let of_others = |line: &OverviewLine| all.iter().filter_map(|one| one.of_line(line)).collect();
    let times = lines.iter().flat_map(|line| [Marks::of_line(line).times_ns(), of_others(line)]);
    let axis = Scale::of_decades(times.flatten());
    html! {
        section.card aria-labelledby="h-overview" {
            div.titled {
                h2 #h-overview { "The ladder" }
                p.lead { "Logarithmic. Small: if 1 ns were 1 s." }
                @if !lines.is_empty() { (key()) }
            }
            @if !lines.is_empty() {
                (against::choice(&all))
                @if !all.is_empty() { p.marks { (against::key(&all)) } }
                div.steps style={ "--decades:" (axis.decade_count()) } {
                    div.scale .crowded[axis.decade_count() > CROWDED] aria-hidden="true" {
                        p.topics { @for topic in Topic::ALL { b.(class(topic)) { (topic.text()) } " " } }
                        div { @for (power, tick) in axis.powers_of_ten() {
                            span.unit[is_unit(power)] style={ "left:" (axis.percent_at(tick.value).unwrap_or_default()) } {
                                b { (tick.label) }
                                small { (human(tick.value)) }
                            }
                        } }
                    }
                    ol role="list" { @for line in &lines { (step(line, &axis, &all)) } }
                }
            }
            (without_figure("Invalid: ", &invalid))
            (without_figure("Not available here: ", &missing))
        }
    }
}

/// Operations that have no place on the axis: why, and their rows.
fn without_figure(why: &str, lines: &[OverviewLine]) -> Markup {
    html! {
        @if !lines.is_empty() {
            p.missing {
                (why)
                @for (at, line) in lines.iter().enumerate() {
                    @if at > 0 { ", " }
                    a href={ "#row-" (line.row.id) } { (line.words()) }
                }
            }
        }
    }
}

fn step(line: &OverviewLine, axis: &Scale, all: &[Against]) -> Markup {
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

/// What the marks stand for.
fn key() -> Markup {
    html! {
        p.marks {
            span { svg aria-hidden="true" viewBox="-8 -8 16 16" { circle.ok r="5" {} } " holds" }
            span { svg aria-hidden="true" viewBox="-8 -8 16 16" { circle.hollow r="5" {} } " uncertain" }
            span { svg aria-hidden="true" viewBox="-8 -8 16 16" { line.spread x1="-8" x2="8" {} } " middle 80 % of samples" }
        }
    }
}
