//! The first screen: what common operations cost on this machine, how memory
//! answers, and how far to trust the figures.

mod against;
mod ladder;
mod memory;
mod trust;

pub(super) use against::style;
pub(super) use trust::summary as trust;

use super::content::Content;
use crate::html::{PageContext, paint};
use crate::render::warning_blocks;
use maud::{Markup, html};
use model::figure::time;
use model::overview::{Doubt, ladder as operations, ratios};
use model::phrases::{capitalized, short_id};
use model::run::Run;
use model::story::Block;
use model::utc;

/// Characters of a date in front of its time of day.
const DATE: usize = 10;

/// The head of the page: on what and when, how many figures hold, and three
/// ratios.
pub(super) fn header(content: &Content) -> Markup {
    let run = content.first().run;
    html! {
        header.top {
            div.head {
                div {
                    h1 { (title(run)) " " span { "on " (run.machine.name()) } }
                    p.sub { (description(run)) " · " a href="#conditions" { "conditions" } }
                }
                // Rows of a recording are parts of what it says, judged there.
                @if !run.is_of_recording() { (trust::summary(run)) }
            }
            (paint(&warning_blocks(Some(run)), PageContext::CHAPTER))
            (paint(&mostly_doubtful(run), PageContext::CHAPTER))
            @if content.others.is_empty() { (ratio_list(run)) }
        }
    }
}

/// What the page is about: a recording has a name.
fn title(run: &Run) -> String {
    match run.recordings.first().filter(|_| run.is_of_recording()) {
        Some(recording) => capitalized(recording.name()),
        None => "What things cost".into(),
    }
}

/// A banner where less than half of the results hold.
pub(super) fn mostly_doubtful(run: &Run) -> Vec<Block> {
    let doubt = Doubt::about_run(run).filter(|doubt| doubt.is_of_most() && !run.is_of_recording());
    let text = |doubt: Doubt| format!("LESS THAN HALF OF THE RESULTS HOLD: {doubt}");
    doubt.map(|doubt| Block::warning("", text(doubt))).into_iter().collect()
}

/// Three ratios: of a compared run they stand below the answer.
pub(super) fn ratio_list(run: &Run) -> Markup {
    let ratios = ratios(run);
    html! {
        @if !ratios.is_empty() {
            ul.ratios role="list" {
                @for ratio in &ratios { li { b { (ratio.amount()) } " " (ratio.time()) } }
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
    parts.push(match &run.imported {
        Some(_) => when(run),
        None => format!("{} in {}", when(run), time(run.wall_ms as f64 * 1e6)),
    });
    parts.push(format!("run {}", short_id(&run.id)));
    parts.join(", ")
}

/// `measured 2026-11-22`.
pub(super) fn when(run: &Run) -> String {
    let started = utc::readable_utc(run.started_unix_ms);
    let date = started.get(..DATE).unwrap_or(&started);
    let what = if run.imported.is_some() { "imported" } else { "measured" };
    format!("{what} {date}")
}

/// The cards below the head.
pub(super) fn section(content: &Content) -> Markup {
    let run = content.first().run;
    let lines = operations(run);
    html! {
        div.first #overview .single[lines.is_empty()] {
            @if !lines.is_empty() { (ladder::card(content, lines)) }
            div.side {
                (memory::card(content))
                @if !run.is_of_recording() && !run.rows.is_empty() { (trust::card(run)) }
            }
        }
    }
}
