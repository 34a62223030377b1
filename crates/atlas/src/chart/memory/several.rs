//! Loads that overlap, and loads beside the traffic of others.

use super::super::curves::{Curves, named, own_unit};
use super::super::figure::{linear, log};
use super::super::source::{Drawn, Source};
use super::super::{Quantity, Section};
use model::run;

/// Several independent chases in one loop.
pub(super) fn parallelism(source: &Source) -> Drawn {
    Curves {
        id: "memory.parallelism",
        title: "Latency with several chases at once",
        caption: "Time of the loop divided by all its loads, while several independent chases \
                  run in step. Where a curve stops falling, no more loads overlap: the first \
                  point over the lowest is their number.",
        section: Section::Memory,
        over: run::Axis::Chases,
        x: log("chases at once", Quantity::Count),
        y: log("time of a load", Quantity::Nanoseconds),
        rows: named(&[
            ("memory.parallelism/L2", "in L2"),
            ("memory.parallelism/L3", "in L3"),
            ("memory.parallelism/DRAM", "in DRAM"),
        ]),
        unit: own_unit,
    }
    .draw(source)
}

/// The chase while the other CPUs stream.
pub(super) fn loaded_latency(source: &Source) -> Drawn {
    Curves {
        id: "memory.loaded_latency",
        title: "Latency of memory beside the traffic of other CPUs",
        caption: "One dependent load from a working set far beyond the caches, while each other \
                  CPU reads memory of its own for a share of its time.",
        section: Section::Memory,
        over: run::Axis::LoadPercent,
        x: linear(
            "share of their time that the other CPUs stream",
            Quantity::Percent,
        ),
        y: linear("time of a load", Quantity::Nanoseconds),
        rows: named(&[("memory.loaded_latency", "one dependent load")]),
        unit: own_unit,
    }
    .draw(source)
}
