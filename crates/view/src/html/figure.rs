//! A picture on a page: heading, legend, the drawing, what to know about it, and
//! every figure of it as text. The text is there for those whom the drawing
//! tells nothing: readers of screens, and people who want the number.

use super::{Place, table};
use crate::chart::svg::{Inline, inline, notes};
use crate::chart::{Body, Chart, csv, tables};
use maud::{Markup, PreEscaped, html};

/// Widths in px: of a picture in a column, of one with long names, of one over
/// the whole page, and of that one on a phone.
const COLUMN: u32 = 480;
const NAMES: u32 = 560;
const WIDE: u32 = 940;
const NARROW: u32 = 390;
/// What a picture can be copied as.
const COPIES: [(&str, &str); 3] = [("svg", "SVG"), ("png", "PNG"), ("csv", "CSV")];
/// Notes that are worth their room.
const NOTES: usize = 3;

/// The picture with all that belongs to it.
pub fn figure(chart: &Chart) -> Markup {
    let is_wide = is_wide(&chart.body);
    let drawn: Vec<(&str, Inline)> = match is_wide {
        true => vec![
            ("on-wide", inline(chart, WIDE, &format!("w-{}", chart.id))),
            ("on-narrow", inline(chart, NARROW, &format!("n-{}", chart.id))),
        ],
        false => {
            let has_names = matches!(chart.body, Body::Dots(_));
            let width = if has_names { NAMES } else { COLUMN };
            vec![("", inline(chart, width, &format!("c-{}", chart.id)))]
        }
    };
    let legend = drawn.first().map_or(&[][..], |(_, first)| &first.legend);
    html! {
        figure.picture .(kind(&chart.body)) .wide[is_wide] id={ "p-" (chart.id) } data-csv=(csv(chart)) {
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
            p.copy hidden {
                "Copy as"
                @for (kind, name) in COPIES {
                    " " button type="button" data-as=(kind) { (name) span.hidden { ": " (chart.title) } }
                }
            }
            (notes_below(chart))
            details.figures-of {
                summary { "Figures" span.hidden { " of " (chart.title) } }
                div.scroll tabindex="0" role="region" aria-label={ "Figures of " (chart.title) } {
                    @for one in tables(chart) { (table::plain(&one, Place::CHAPTER)) }
                }
            }
        }
    }
}

/// Pictures whose stretches have names that need the room.
fn is_wide(body: &Body) -> bool {
    match body {
        Body::Lines(lines) => !lines.bands.is_empty(),
        Body::Lanes(_) | Body::Strips(_) => true,
        Body::Dots(_) | Body::Bars(_) | Body::Heat(_) => false,
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
    }
}
