//! Rows with a figure for each pair, as maps of colours.

use super::super::curves::{hollow, without_figure};
use super::super::figure::{PlottedFigure, log};
use super::super::source::{ChartSource, Drawn, Picture, why_not};
use super::super::{Body, Chart, Heat, HeatCell, Quantity, Section};
use super::pair_groups::{against_groups, has_groups};
use crate::render::curves::axis_text;
use model::run::{MapPoint, Outcome, Run};
use model::story::core_to_core::{PROBE, clusters, only_pair};

/// A row with a figure for each pair, as a picture.
pub(in super::super) struct Map {
    /// Of the picture.
    pub(in super::super) id: &'static str,
    row: &'static str,
    title: &'static str,
    caption: &'static str,
    section: Section,
    /// Label and quantity of the colours.
    value: (&'static str, Quantity),
}

/// Reading speed over working set and stride.
pub(super) const MOUNTAIN: Map = Map {
    id: "memory.mountain",
    row: "memory.mountain",
    title: "The memory mountain",
    caption: "Speed of 8-byte loads that don't wait for each other, by working set \
              (down) and stride (across), after Bryant and O'Hallaron. GB/s counts the \
              8 bytes only.",
    section: Section::Memory,
    value: ("bandwidth", Quantity::GigabytesPerSecond),
};

/// Between the memory of one NUMA node and the CPUs of another.
pub(super) const NUMA_LATENCY: Map = Map {
    id: "memory.numa.latency",
    row: "memory.numa/latency",
    title: "Latency from NUMA node to NUMA node",
    caption: "One dependent load by a CPU of one node from memory of another.",
    section: Section::Memory,
    value: ("time of a load", Quantity::Nanoseconds),
};

/// The same as reading speed.
pub(super) const NUMA_BANDWIDTH: Map = Map {
    id: "memory.numa.bandwidth",
    row: "memory.numa/bandwidth",
    title: "Bandwidth from NUMA node to NUMA node",
    caption: "Reading by a CPU of one node from memory of another.",
    section: Section::Memory,
    value: ("bandwidth", Quantity::GigabytesPerSecond),
};

/// A cache line handed over, each pair of CPUs once.
const CORE_TO_CORE: Map = Map {
    id: PROBE,
    row: PROBE,
    title: "From core to core",
    caption: "Time one way to hand a cache line from one CPU to another. Each pair is \
              measured once.",
    section: Section::Threads,
    value: ("time one way", Quantity::Nanoseconds),
};

/// Of two CPUs it is a sentence; against groups of pairs of other machines, a curve.
pub(super) fn core_to_core(source: &ChartSource) -> Drawn {
    if has_groups(source) {
        return against_groups(source);
    }
    match only_pair(source.run) {
        Some(sentence) => Err(format!("it has one pair of CPUs: {sentence}")),
        None => by_cluster(CORE_TO_CORE.draw(source)?, source.run),
    }
}

/// The same with the CPUs in the order of their clusters.
fn by_cluster(mut picture: Picture, run: &Run) -> Drawn {
    let found = clusters(run).zip(run.row(PROBE));
    let Some(((mut clusters, unseen), row)) = found else { return Ok(picture) };
    let (Outcome::Map { points, .. }, Body::Heat(heat)) = (&row.outcome, &mut picture.chart.body)
    else {
        return Ok(picture);
    };
    let (ys, xs) = (places(points, |p| p.y), places(points, |p| p.x));
    let mut cpus = ys.clone();
    cpus.extend(&xs);
    cpus.sort_unstable();
    cpus.dedup();
    // Those of which no pair can be relied on come last.
    clusters
        .order
        .extend(cpus.iter().filter(|cpu| !clusters.order.contains(cpu)).collect::<Vec<_>>());
    let place = |cpu: u64| clusters.order.iter().position(|&other| other == cpu);
    for cell in &mut heat.cells {
        let both = [xs[cell.x], ys[cell.y]].map(place);
        let [Some(a), Some(b)] = both else { continue };
        (cell.x, cell.y) = (a.min(b), a.max(b).saturating_sub(1));
    }
    let names: Vec<String> = clusters.order.iter().map(u64::to_string).collect();
    heat.x = names[..names.len().saturating_sub(1)].to_vec();
    heat.y = names.get(1..).unwrap_or_default().to_vec();
    let (all, drawn) = (names.len() * names.len().saturating_sub(1) / 2, heat.cells.len());
    picture.chart.notes.splice(0..0, unseen);
    if drawn < all {
        picture
            .chart
            .notes
            .push(format!("{} of {all} pairs have no figure: their cells are empty.", all - drawn));
    }
    if !clusters.levels.is_empty() {
        picture.chart.caption.push_str(
            " The outlines are clusters of CPUs, found in these figures; the CPUs are in the order of their clusters.",
        );
    }
    heat.clusters = Some(clusters);
    Ok(picture)
}

/// A token handed round a ring of processes on one CPU.
pub(super) const RING: Map = Map {
    id: "sched.ring",
    row: "sched.ring",
    title: "Context switches in a ring of processes",
    caption: "One hop of a token to the next process of a ring, by the number of \
              processes (down) and the array that each sums when it has the token \
              (across), without the cost of the same work in one process.",
    section: Section::Threads,
    value: ("time of a hop", Quantity::Nanoseconds),
};

impl Map {
    pub(in super::super) fn draw(&self, source: &ChartSource) -> Drawn {
        let row = source.run.row(self.row);
        let map = row.and_then(|row| match &row.outcome {
            Outcome::Map { y_axis, x_axis, points } => Some((row, *y_axis, *x_axis, points)),
            _ => None,
        });
        let Some((row, y_axis, x_axis, points)) = map else {
            return Err(why_not(source.run, &[self.row]));
        };
        let (ys, xs) = (places(points, |p| p.y), places(points, |p| p.x));
        let mut notes = row.notes.clone();
        let (mut cells, mut missing) = (Vec::new(), Vec::new());
        for point in points {
            let at = format!("{} and {}", y_axis.value_text(point.y), x_axis.value_text(point.x));
            let Some(figure) = PlottedFigure::first(&point.estimate, &row.unit) else {
                missing.push((point.estimate.reason.as_str(), at));
                continue;
            };
            if let (Ok(x), Ok(y)) = (xs.binary_search(&point.x), ys.binary_search(&point.y)) {
                cells.push(HeatCell {
                    x,
                    y,
                    value: figure.value,
                    low: figure.low,
                    high: figure.high,
                    verdict: Some(point.estimate.verdict),
                });
            }
        }
        if cells.is_empty() {
            return Err("no point was measured that could be drawn".into());
        }
        notes.extend(without_figure(missing));
        notes.extend(hollow(points.iter().map(|p| p.estimate.verdict)));
        let names = |axis: model::run::Axis, places: &[u64]| {
            places.iter().map(|&at| axis.value_text(at)).collect()
        };
        Ok(Picture {
            chart: Chart {
                id: self.id.into(),
                title: self.title.into(),
                caption: self.caption.into(),
                section: self.section,
                body: Body::Heat(Heat {
                    x_label: axis_text(x_axis).into(),
                    x: names(x_axis, &xs),
                    y_label: axis_text(y_axis).into(),
                    y: names(y_axis, &ys),
                    value: log(self.value.0, self.value.1),
                    cells,
                    clusters: None,
                }),
                notes,
            },
            rows: vec![self.row.into()],
        })
    }
}

/// The places that occur on one axis, rising.
fn places(points: &[MapPoint], of: impl Fn(&MapPoint) -> u64) -> Vec<u64> {
    let mut all: Vec<u64> = points.iter().map(of).collect();
    all.sort_unstable();
    all.dedup();
    all
}
