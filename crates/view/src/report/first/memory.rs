//! The memory staircase: latency over working set, with the published levels of
//! phones.

use super::super::content::Content;
use crate::chart::staircase;
use crate::chart::svg::inline_of_height;
use maud::{Markup, PreEscaped, html};

/// Size of the picture, px.
const SIZE: (u32, f64) = (380, 236.0);

/// The card; empty where the run has no such curve.
pub(super) fn card(content: &Content) -> Markup {
    let Some(chart) = staircase(content.pictures) else {
        return html! {};
    };
    let drawn = inline_of_height(&chart, SIZE, "first");
    html! {
        section.card.stairs aria-labelledby="h-stairs" {
            h2 #h-stairs { a href="#p-memory.latency" { (chart.title) } }
            p.lead { (chart.caption) }
            div.drawn { (PreEscaped(drawn.svg)) }
            @if drawn.legend.len() > 1 {
                p.marks {
                    @for (name, sample) in &drawn.legend { span { (PreEscaped(sample)) " " (name) } }
                }
            }
        }
    }
}
