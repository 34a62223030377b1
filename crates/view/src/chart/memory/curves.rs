//! Curves of memory as data.

use super::super::Quantity;
use super::super::curves::{CURVES, Curves, rows_below};
use super::super::source::{ChartSource, Drawn, Picture, why_not};
use super::bands::bands_of_design;
use super::caches::{caches, levels};
use model::run;
use model::story::levels::LATENCY as PROBE;
use model::story::page_walk::PageWalk;

/// Over the working set, with the caches that the system reports.
const OVER_WORKING_SET: Curves = Curves { finish: caches, ..CURVES };

const SPEED: Curves = Curves { y: ("bandwidth", Quantity::GigabytesPerSecond), ..OVER_WORKING_SET };

pub(super) const LATENCY: Curves = Curves {
    id: PROBE,
    title: "Memory latency over working set",
    caption: "What one load costs that has to wait for the one before, in a working set of \
              growing size. Plateaus are the levels of the memory hierarchy, found \
              in the curve, not taken from the system, whose cache sizes are the dashed lines.",
    rows: &[
        (PROBE, "one dependent load"),
        ("memory.latency_steady", "steady state, cache shared with neighbours"),
    ],
    finish: |source, picture| {
        levels(source, picture, PROBE);
        caches(source, picture);
        bands_of_design(source.run, picture);
    },
    ..CURVES
};

const STRIDES: Curves = Curves {
    id: "memory.latency_stride",
    title: "Latency in regular order",
    caption: "The same dependent loads, forward by a stride: the difference from random order \
              is what prefetching hides.",
    ..OVER_WORKING_SET
};

/// Regular order by stride, and the random one.
pub(super) fn strides(source: &ChartSource) -> Drawn {
    let mut rows = rows_below(source.run, run::Axis::WorkingSetBytes, STRIDES.id);
    if rows.is_empty() {
        return Err(why_not(source.run, &["memory.latency_stride/64B"]));
    }
    for (_, name) in &mut rows {
        *name = format!("every {name}, forward");
    }
    rows.push((PROBE.into(), "random order".into()));
    STRIDES.draw_rows(source, rows)
}

/// The row in the order of the iPhone study.
pub(super) const AS_KURKIN_ROW: &str = "memory.latency_as_kurkin";

pub(super) const AS_KURKIN: Curves = Curves {
    id: AS_KURKIN_ROW,
    title: "Latency in the order of Kurkin's iPhone study",
    caption: "Another page on every hop, on base pages: what the study read on iPhones, in an \
              optimised loop. Points: published figures, those of L1 and L2 in the middle of this \
              machine's level.",
    rows: &[(AS_KURKIN_ROW, "another page on every hop")],
    finish: |source, picture| {
        levels(source, picture, AS_KURKIN_ROW);
        caches(source, picture);
    },
    ..CURVES
};

pub(super) const PAGE_WALK: Curves = Curves {
    id: "memory.latency_tlb",
    title: "Cost of page walks",
    caption: "One load from one line in each 4 KiB, in random order, on base pages and on huge \
              pages: the difference is the cost of page walks.",
    rows: &[("memory.latency_tlb/4KiB", "4 KiB pages"), ("memory.latency_tlb/huge", "huge pages")],
    finish: page_walk,
    ..CURVES
};

fn page_walk(source: &ChartSource, picture: &mut Picture) {
    caches(source, picture);
    let walk = PageWalk::measured_in(source.run).map(|walk| walk.to_string());
    picture.chart.notes.splice(0..0, walk);
}

pub(super) const ONE_CORE: Curves = Curves {
    id: "memory.bandwidth",
    title: "Bandwidth of one core over working set",
    caption: "Reading, writing and modifying 4-byte elements one after the other, and every \
              fourth only. GB/s counts the bytes that are touched; lines of memory come whole, so \
              every fourth gets less of what comes.",
    rows: &[
        ("memory.read/sequential", "read, sequential"),
        ("memory.read/every_4th", "read, every 4th"),
        ("memory.write/sequential", "write, sequential"),
        ("memory.write/every_4th", "write, every 4th"),
        ("memory.read_write/sequential", "modify, sequential"),
        ("memory.read_write/every_4th", "modify, every 4th"),
    ],
    ..SPEED
};

pub(super) const COPY_FILL: Curves = Curves {
    id: "memory.copy",
    title: "Copying and filling memory",
    caption: "memcpy by the bytes that are copied, and memset by the bytes that are set.",
    rows: &[("memory.copy", "copy (memcpy)"), ("memory.fill", "fill (memset)")],
    ..SPEED
};

pub(super) const ALL_CORES: Curves = Curves {
    id: "memory.all_cores",
    title: "Bandwidth of all CPUs together",
    caption: "One thread on each CPU, all at once, each with memory of its own: the sum of all, \
              over the working set of one.",
    rows: &[
        ("memory.read_all_cores", "read"),
        ("memory.write_all_cores", "write"),
        ("memory.copy_all_cores", "copy"),
    ],
    ..SPEED
};

pub(super) const PARALLELISM: Curves = Curves {
    id: "memory.parallelism",
    title: "Latency with several chases at once",
    caption: "Time of the loop divided by all its loads, while several independent chases run in \
              step. Where a curve stops falling, no more loads overlap: the first point over the \
              lowest is their number.",
    over: run::Axis::Chases,
    x: ("chases at once", Quantity::Count),
    rows: &[
        ("memory.parallelism/L2", "in L2"),
        ("memory.parallelism/L3", "in L3"),
        ("memory.parallelism/DRAM", "in DRAM"),
    ],
    ..CURVES
};

pub(super) const LOADED_LATENCY: Curves = Curves {
    id: "memory.loaded_latency",
    title: "Memory latency under traffic from other CPUs",
    caption: "One dependent load from a working set far beyond the caches, while each other CPU \
              reads memory of its own for a share of its time.",
    over: run::Axis::LoadPercent,
    x: ("share of their time that the other CPUs stream", Quantity::Percent),
    linear: true,
    rows: &[("memory.loaded_latency", "one dependent load")],
    ..CURVES
};
