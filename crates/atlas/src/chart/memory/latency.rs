//! Latency over working set: the levels that were found, and what the system
//! says of its caches.

use super::super::curves::{Curves, named, own_unit};
use super::super::figure::log;
use super::super::source::{Drawn, Source};
use super::super::{Band, Body, Lines, Mark, Quantity, Section};
use crate::render::levels::{LATENCY, found, os_caches};
use crate::render::machine::{cache_name, cache_size};
use model::run::{self, Run};

/// The picture.
pub(super) fn latency(source: &Source) -> Drawn {
    let curves = Curves {
        id: LATENCY,
        title: "Memory latency over working set",
        caption: "What one load costs that has to wait for the one before, in a working set of \
                  growing size. Flat stretches are the levels of the memory hierarchy: they are \
                  found in the curve, not taken from the system, whose cache sizes are the \
                  dashed lines.",
        section: Section::Memory,
        over: run::Axis::WorkingSetBytes,
        x: log("working set", Quantity::Bytes),
        y: log("time of a load", Quantity::Nanoseconds),
        rows: named(&[
            (LATENCY, "one dependent load"),
            ("memory.latency_steady", "as this host keeps the set"),
        ]),
        unit: own_unit,
    };
    let mut picture = curves.draw(source)?;
    if let Body::Lines(lines) = &mut picture.chart.body {
        levels(source.run, lines);
        caches(source.run, lines, &mut picture.chart.notes);
    }
    Ok(picture)
}

/// Shades the levels that were found.
pub(super) fn levels(run: &Run, lines: &mut Lines) {
    for level in found(run).filter(|level| level.curve == LATENCY) {
        lines.bands.push(Band {
            name: format!("{} {}", level.name, level.figure()),
            from: level.from_bytes as f64,
            to: level.to_bytes as f64,
        });
    }
}

/// Marks the caches that the system tells of.
pub(super) fn caches(run: &Run, lines: &mut Lines, notes: &mut Vec<String>) {
    let caches = match os_caches(run) {
        Ok(caches) => caches,
        Err(why) => {
            notes.push(format!("The system's cache sizes are not known: {why}."));
            return;
        }
    };
    lines.marks.extend(caches.iter().filter_map(|cache| {
        Some(Mark {
            name: format!("{} {}", cache_name(cache), cache_size(cache)),
            x: cache.size_bytes? as f64,
        })
    }));
}
