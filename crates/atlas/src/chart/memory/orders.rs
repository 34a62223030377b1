//! Latency in other orders than the random one: what prefetchers and the page
//! walk do.

use super::super::Quantity;
use super::super::curves::{named, rows_below};
use super::super::figure::log;
use super::super::source::{Drawn, Source, why_not};
use super::working_set::over_working_set;
use crate::render::page_walk;
use model::run;

/// Regular order by stride, beside the random one.
pub(super) fn strides(source: &Source) -> Drawn {
    const PROBE: &str = "memory.latency_stride";
    let over = run::Axis::WorkingSetBytes;
    let mut rows = rows_below(source.run, over, PROBE);
    if rows.is_empty() {
        return Err(why_not(source.run, &["memory.latency_stride/64B"]));
    }
    for (_, name) in &mut rows {
        *name = format!("every {name}, forward");
    }
    rows.extend(named(&[("memory.latency", "random order")]));
    draw(
        source,
        PROBE,
        "Latency in regular order",
        "The same dependent loads, forward by a stride: what they cost less than in random order \
         is what the prefetchers hide.",
        rows,
    )
}

/// The iPhone study's order.
pub(super) fn as_kurkin(source: &Source) -> Drawn {
    draw(
        source,
        "memory.latency_as_kurkin",
        "Latency in the order of Kurkin's iPhone study",
        "Another page on every hop, on base pages: what the study read on iPhones, in an \
         optimised loop.",
        named(&[("memory.latency_as_kurkin", "another page on every hop")]),
    )
}

/// The same lines on base and on huge pages.
pub(super) fn page_walk(source: &Source) -> Drawn {
    let mut picture = draw(
        source,
        "memory.latency_tlb",
        "What the walk of the page tables costs",
        "One load from one line in each 4 KiB, in random order, on base pages and on huge pages: \
         the difference is the walk of the page tables.",
        named(&[
            ("memory.latency_tlb/4KiB", "4 KiB pages"),
            ("memory.latency_tlb/huge", "huge pages"),
        ]),
    )?;
    let words = page_walk::in_words(source.run);
    picture.chart.notes.splice(0..0, words);
    Ok(picture)
}

fn draw(
    source: &Source,
    id: &str,
    title: &str,
    caption: &str,
    rows: Vec<(String, String)>,
) -> Drawn {
    let y = log("time of a load", Quantity::Nanoseconds);
    over_working_set(source, id, title, caption, y, rows)
}
