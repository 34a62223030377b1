//! A few figures that most people look for first.

use crate::render::figures::{Shown, cycles, shown};
use maud::{Markup, html};
use model::estimate::Verdict;
use model::run::Run;

/// Rows and what they are called, in rising order of what they usually cost.
pub(super) const TILES: [(&str, &str); 8] = [
    ("memory.latency/L1", "load from L1"),
    ("memory.latency/L2", "load from L2"),
    ("memory.latency/L3", "load from L3"),
    ("memory.latency/DRAM", "load from memory"),
    ("call.syscall", "system call"),
    ("memory.page_fault/anonymous", "page fault"),
    ("thread.create_join", "thread, made and joined"),
    ("process.fork_exec", "process, fork and exec"),
];

/// The tiles of the rows that have a figure.
pub(super) fn tiles(run: &Run) -> Markup {
    let found = TILES.iter().filter_map(|(id, name)| {
        let row = run.row(id)?;
        let estimate = row.estimate()?;
        match shown(estimate, &row.unit) {
            Shown::Figure(figure) => Some((name, figure, estimate)),
            _ => None,
        }
    });
    let found: Vec<_> = found.collect();
    html! {
        @if !found.is_empty() {
            ul.tiles aria-label="Some figures first" {
                @for (name, figure, estimate) in found {
                    li.tile .hollow[estimate.verdict != Verdict::Ok] {
                        span.what { (name) }
                        span.figure { (figure.value) " " span.unit { (figure.unit) } }
                        span.counterpart {
                            @if estimate.quiet.is_none() { "typical, " }
                            "±" (figure.half_width)
                            @let count = cycles(estimate);
                            @if !count.is_empty() { " · " (count) " cycles" }
                            @if estimate.verdict != Verdict::Ok { " · " (estimate.verdict.text()) }
                        }
                    }
                }
            }
        }
    }
}
