//! A picture on a page: heading, the place where the script draws, what to know
//! beside it, and every figure of it as text. The text is there for whom the
//! drawing says nothing: readers of screens, browsers without a script, and
//! people who want the number.

use super::words::{label, text};
use crate::chart::{Axis, Bars, Body, Chart, Dots, Heat, Lines, Point};
use maud::{Markup, html};
use model::estimate::Verdict;

/// Points of one curve that are worth a line of text each. More of them are
/// samples, of which the ends are told.
const LISTED: usize = 120;
/// Notes that are worth their room.
const NOTES: usize = 3;

/// The picture with all that belongs to it.
pub fn figure(chart: &Chart) -> Markup {
    html! {
        figure.picture .(kind(&chart.body)) id={ "p-" (chart.id) } {
            figcaption {
                h3 { (chart.title) }
                p { (chart.caption) }
            }
            div.chart data-chart=(chart.id) {
                p.undrawn { "Drawn by a script: without one, the figures are below." }
            }
            (notes(chart))
            details.figures-of {
                summary { "Figures" span.hidden { " of " (chart.title) } }
                div.scroll tabindex="0" role="region" aria-label={ "Figures of " (chart.title) } {
                    @match &chart.body {
                        Body::Lines(lines) => (of_lines(lines)),
                        Body::Bars(bars) => (of_bars(bars)),
                        Body::Heat(heat) => (of_heat(heat)),
                        Body::Dots(dots) => (of_dots(dots)),
                    }
                }
            }
        }
    }
}

/// What to know beside it; many notes are folded.
fn notes(chart: &Chart) -> Markup {
    let mut notes = chart.notes.clone();
    notes.extend(without_place(&chart.body));
    let list = html! { ul.notes { @for note in &notes { li { (note) } } } };
    match notes.len() {
        0 => html! {},
        1..=NOTES => list,
        count => html! {
            details.folded {
                summary { (count) " notes" span.hidden { " on " (chart.title) } }
                (list)
            }
        },
    }
}

/// How many figures a logarithmic axis has no place for.
fn without_place(body: &Body) -> Option<String> {
    let count = match body {
        Body::Lines(lines) => {
            let outside =
                |point: &&Point| (lines.x.log && point.x <= 0.0) || (lines.y.log && point.y <= 0.0);
            let points = lines.series.iter().flat_map(|line| &line.points);
            points.filter(outside).count()
        }
        Body::Dots(dots) if dots.value.log => {
            let values = dots.rows.iter().filter_map(|dot| dot.value);
            values.filter(|value| *value <= 0.0).count()
        }
        // A map writes their numbers, without a colour.
        Body::Bars(_) | Body::Heat(_) | Body::Dots(_) => 0,
    };
    let figures = if count == 1 { "figure" } else { "figures" };
    (count > 0).then(|| {
        format!(
            "Not drawn, since a logarithmic axis has no place for them: {count} {figures} of 0 or less."
        )
    })
}

fn kind(body: &Body) -> &'static str {
    match body {
        Body::Lines(_) => "lines",
        Body::Bars(_) => "bars",
        Body::Heat(_) => "heat",
        Body::Dots(_) => "dots",
    }
}

/// The interval behind a figure: empty where there is none.
fn interval(axis: &Axis, low: Option<f64>, high: Option<f64>) -> String {
    let [low, high] = [low, high].map(|end| end.map(|end| text(axis.quantity, end)));
    match (low, high) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("from {low}, no upper end"),
        (None, Some(high)) => format!("up to {high}, no lower end"),
        (None, None) => String::new(),
    }
}

fn verdict(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("", Verdict::text)
}

fn of_lines(lines: &Lines) -> Markup {
    html! {
        table.plain {
            thead { tr {
                th scope="col" { "curve" }
                th.n scope="col" { (label(&lines.x)) }
                th.n scope="col" { (label(&lines.y)) }
                th.n scope="col" { "95 % interval" }
                th scope="col" { "verdict" }
            } }
            @for line in &lines.series {
                tbody {
                    @if !line.joined && line.points.len() > LISTED {
                        tr { th scope="row" { (line.name) } td colspan="4" {
                            (of_samples(&lines.y, &line.points))
                        } }
                    } @else {
                        @for point in &line.points { tr {
                            th scope="row" { (line.name) }
                            td.n { (text(lines.x.quantity, point.x)) }
                            td.n { (text(lines.y.quantity, point.y)) }
                            td.n { (interval(&lines.y, point.low, point.high)) }
                            td { (verdict(point.verdict)) }
                        } }
                    }
                }
            }
        }
        @if !lines.bands.is_empty() || !lines.marks.is_empty() {
            table.plain {
                thead { tr {
                    th scope="col" { "marked" }
                    th.n scope="col" { "from" }
                    th.n scope="col" { "to" }
                } }
                tbody {
                    @for band in &lines.bands { tr {
                        th scope="row" { (band.name) }
                        td.n { (text(lines.x.quantity, band.from)) }
                        td.n { (text(lines.x.quantity, band.to)) }
                    } }
                    @for mark in &lines.marks { tr {
                        th scope="row" { (mark.name) }
                        td.n { (text(lines.x.quantity, mark.x)) }
                        td {}
                    } }
                }
            }
        }
    }
}

/// Many samples in a sentence: how many, and their ends. A median of those that
/// are drawn, which are chosen for their extremes, would be nobody's figure.
fn of_samples(axis: &Axis, points: &[Point]) -> String {
    let values = || points.iter().map(|point| point.y);
    format!(
        "{} samples drawn, from {} to {}; all of them are in the run's document",
        points.len(),
        text(axis.quantity, values().fold(f64::INFINITY, f64::min)),
        text(axis.quantity, values().fold(f64::NEG_INFINITY, f64::max)),
    )
}

fn of_bars(bars: &Bars) -> Markup {
    html! {
        table.plain {
            thead { tr {
                th scope="col" { (bars.label) }
                @for part in &bars.parts {
                    th.n scope="col" { (part.name) }
                }
            } }
            tbody {
                @for (at, category) in bars.categories.iter().enumerate() { tr {
                    th scope="row" { (category) }
                    @for part in &bars.parts {
                        td.n { (part.values.get(at).copied().flatten()
                            .map_or("not known".into(), |v| text(bars.value.quantity, v))) }
                    }
                } }
            }
        }
    }
}

fn of_heat(heat: &Heat) -> Markup {
    let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
    html! {
        table.plain {
            thead { tr {
                th scope="col" { (heat.y_label) }
                th scope="col" { (heat.x_label) }
                th.n scope="col" { (label(&heat.value)) }
                th.n scope="col" { "95 % interval" }
                th scope="col" { "verdict" }
            } }
            tbody {
                @for cell in &heat.cells { tr {
                    th scope="row" { (name(&heat.y, cell.y)) }
                    td { (name(&heat.x, cell.x)) }
                    td.n { (text(heat.value.quantity, cell.value)) }
                    td.n { (interval(&heat.value, cell.low, cell.high)) }
                    td { (verdict(cell.verdict)) }
                } }
            }
        }
    }
}

fn of_dots(dots: &Dots) -> Markup {
    html! {
        table.plain {
            thead { tr {
                th scope="col" { "row" }
                th.n scope="col" { (label(&dots.value)) }
                th.n scope="col" { "95 % interval" }
                th scope="col" { "verdict" }
                th scope="col" { "others" }
            } }
            tbody {
                @for dot in &dots.rows { tr {
                    th scope="row" { (dot.id) }
                    td.n { (dot.value.map_or(String::new(), |v| text(dots.value.quantity, v))) }
                    td.n { (interval(&dots.value, dot.low, dot.high)) }
                    td { (verdict(dot.verdict)) @if !dot.reason.is_empty() { " " (dot.reason) } }
                    td {
                        @for (at, other) in dot.others.iter().enumerate() {
                            @if at > 0 { ", " }
                            (other.name) " " (text(dots.value.quantity, other.value))
                        }
                    }
                } }
            }
        }
    }
}
