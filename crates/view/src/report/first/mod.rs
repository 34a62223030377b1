//! The first screen: what common operations cost on this machine, how memory
//! answers, and how far to trust the figures.

mod against;
mod ladder;
mod memory;
mod trust;

pub(super) use against::style;

use super::content::Content;
use crate::html::{Place, paint};
use crate::render::warning_blocks;
use maud::{Markup, html};
use model::figure::time;
use model::overview::{ladder as operations, ratios};
use model::run::Run;
use model::text::short_id;
use model::utc;

/// Characters of a date in front of its time of day.
const DATE: usize = 10;

/// The head of the page: on what and when, how many figures hold, and three
/// ratios.
pub(super) fn header(content: &Content) -> Markup {
    let run = content.first().run;
    let ratios = ratios(run);
    html! {
        header.top {
            div.head {
                div {
                    h1 { "What things cost " span { "on " (run.machine.name()) } }
                    p.sub { (description(run)) " · " a href="#conditions" { "conditions" } }
                }
                (trust::summary(run))
            }
            (paint(&warning_blocks(Some(run)), Place::CHAPTER))
            @if !ratios.is_empty() {
                ul.ratios role="list" {
                    @for ratio in &ratios { li { b { (ratio.amount()) } " " (ratio.time()) } }
                }
            }
        }
    }
}

/// `2 CPUs, KVM guest, Debian 12, 3.87 GHz, measured 2026-11-22 in 74 s, run
/// 733bb517`.
pub(super) fn description(run: &Run) -> String {
    let mut parts = run.machine.configuration();
    let clock = run.core_clock.as_ref();
    parts.extend(clock.map(|clock| format!("{:.2} GHz", 1.0 / clock.cycle_ns.value)));
    let started = utc::text(run.started_unix_ms);
    let date = started.get(..DATE).unwrap_or(&started);
    parts.push(match &run.imported {
        Some(_) => format!("imported {date}"),
        None => {
            let took = time(run.wall_ms as f64 * 1e6);
            format!("measured {date} in {took}")
        }
    });
    parts.push(format!("run {}", short_id(&run.id)));
    parts.join(", ")
}

/// The cards below the head.
pub(super) fn section(content: &Content) -> Markup {
    let lines = operations(content.first().run);
    html! {
        div.first #overview .single[lines.is_empty()] {
            @if !lines.is_empty() { (ladder::card(content, lines)) }
            div.side {
                (memory::card(content))
                (trust::card(content.first().run))
            }
        }
    }
}
