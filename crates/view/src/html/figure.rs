//! A picture on a page: heading, legend, the drawing, what to know about it, and
//! every figure of it as text. The text is there for those whom the drawing
//! tells nothing: readers of screens, and people who want the number.

use super::{PageContext, table};
use crate::chart::svg::{Inline, inline, inline_of_height, notes};
use crate::chart::{Body, Chart, Section, forest, short_csv, tables};
use maud::{Markup, PreEscaped, html};
use model::phrases::counted;

/// Widths in px: of a picture in a column, of one with long names, of one over
/// the whole page, and of that one on a phone.
const COLUMN: u32 = 480;
const NAMES: u32 = 560;
const WIDE: u32 = 940;
const NARROW: u32 = 390;
/// Width and height of one of several small pictures.
const SMALL: (u32, f64) = (400, 170.0);
/// What a picture can be copied as.
const COPIES: [(&str, &str); 3] = [("svg", "SVG"), ("png", "PNG"), ("csv", "CSV")];
/// CPUs from which on a map of their pairs is over the whole page.
const MANY_CPUS: usize = 16;
/// Notes that are worth their room.
const NOTES: usize = 3;

/// The picture with all that belongs to it.
pub fn chart_figure(chart: &Chart) -> Markup {
    if chart.section == Section::History {
        return small(chart);
    }
    let is_wide = is_wide(&chart.body);
    let (width, is_small_on_phones) = match chart.body {
        _ if is_wide => (WIDE, true),
        // Its lines would be too small to read on a phone.
        Body::Dots(_) => (NAMES, forest::is_forest(chart)),
        Body::Slopes(_) => (NARROW, false),
        _ => (COLUMN, false),
    };
    let drawn: Vec<(&str, Inline)> = match is_small_on_phones {
        true => vec![
            ("on-wide", inline(chart, width, &format!("w-{}", chart.id))),
            ("on-narrow", inline(chart, NARROW, &format!("n-{}", chart.id))),
        ],
        false => vec![("", inline(chart, width, &format!("c-{}", chart.id)))],
    };
    let legend = drawn.first().map_or(&[][..], |(_, first)| &first.legend);
    html! {
        figure.picture .(kind(&chart.body)) .wide[is_wide] id={ "p-" (chart.id) } data-csv=(short_csv(chart)) {
            figcaption {
                h3 data-title=(chart.title) { (chart.title) }
                p { (chart.caption) }
            }
            @if legend.len() > 1 {
                div.legend role="group" aria-label={ "Curves of " (chart.title) } {
                    @for (at, (name, sample)) in legend.iter().enumerate() {
                        button type="button" aria-pressed="true" data-s=(at) { (PreEscaped(sample)) " " (name) }
                    }
                }
            }
            div.chart data-chart=(chart.id) tabindex="0" role="group"
                aria-label={ "Chart: " (chart.title) } aria-describedby="keys" {
                @for (class, Inline { svg, .. }) in &drawn { div.drawn .(class) { (PreEscaped(svg)) } }
            }
            button.reset type="button" hidden { "Reset zoom" }
            (copies(chart))
            (notes_below(chart))
            details.figures-of {
                summary { "Figures" span.hidden { " of " (chart.title) } }
                (figures_of(chart))
            }
        }
    }
}

/// One of several small pictures beside each other, which are read together: title, drawing, and all else folded.
fn small(chart: &Chart) -> Markup {
    let Inline { svg, .. } = inline_of_height(chart, SMALL, &format!("c-{}", chart.id));
    html! {
        figure.picture.small.(kind(&chart.body)) id={ "p-" (chart.id) } data-csv=(short_csv(chart)) {
            figcaption { h3 data-title=(chart.title) { (chart.title) } p { (chart.caption) } }
            div.chart data-chart=(chart.id) tabindex="0" role="group"
                aria-label={ "Chart: " (chart.title) } aria-describedby="keys" {
                div.drawn { (PreEscaped(svg)) }
            }
            button.reset type="button" hidden { "Reset zoom" }
            details.figures-of {
                summary { "Figures" span.hidden { " of " (chart.title) } }
                (copies(chart))
                ul.notes { @for note in notes(chart) { li { (note) } } }
                (figures_of(chart))
            }
        }
    }
}

fn copies(chart: &Chart) -> Markup {
    html! {
        p.copy hidden {
            "Copy as"
            @for (kind, name) in COPIES {
                " " button type="button" data-as=(kind) { (name) span.hidden { ": " (chart.title) } }
            }
        }
    }
}

/// The figures as text; of a forest plot those that are drawn, since pages list all rows that they compare.
fn figures_of(chart: &Chart) -> Markup {
    let most = if forest::is_forest(chart) { forest::MOST } else { usize::MAX };
    let mut tables = tables(chart);
    let more: usize = tables.iter().map(|one| one.rows.len().saturating_sub(most)).sum();
    tables.iter_mut().for_each(|one| one.rows.truncate(most));
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Figures of " (chart.title) } {
            @for one in &tables { (table::plain(one, PageContext::CHAPTER)) }
        }
        @if more > 0 { p { (counted(more, "more row")) ": in the CSV." } }
    }
}

/// Pictures whose stretches have names that need the room.
fn is_wide(body: &Body) -> bool {
    match body {
        Body::Lines(lines) => !lines.bands.is_empty(),
        Body::Dots(dots) => dots.labelled,
        Body::Lanes(_) | Body::Strips(_) => true,
        Body::Heat(heat) => heat.clusters.as_ref().is_some_and(|all| all.order.len() > MANY_CPUS),
        Body::Bars(_) | Body::Slopes(_) => false,
    }
}

/// Many notes are folded.
fn notes_below(chart: &Chart) -> Markup {
    let notes = notes(chart);
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

fn kind(body: &Body) -> &'static str {
    match body {
        Body::Lines(_) => "lines",
        Body::Bars(_) => "bars",
        Body::Heat(_) => "heat",
        Body::Dots(_) => "dots",
        Body::Lanes(_) => "lanes",
        Body::Strips(_) => "strips",
        Body::Slopes(_) => "slopes",
    }
}
