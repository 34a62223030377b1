//! The pairs of CPUs against the groups of other machines: siblings, one cluster, one socket, across.

use super::super::curves::hollow;
use super::super::figure::{PlottedFigure, joined, linear, log};
use super::super::source::{ChartSource, Drawn, Picture, why_not};
use super::super::{Body, Chart, ChartLine, CurveKind, Lines, Point, Quantity, Section};
use model::run::Outcome;
use model::story::core_to_core::PROBE;

/// Whether a reference to draw has groups of pairs.
pub(super) fn has_groups(source: &ChartSource) -> bool {
    let mut rows = source.references.tables.iter().flat_map(|table| &table.rows);
    rows.any(|row| !row.pair_groups.is_empty())
}

/// The pairs by rising time, and the groups as steps.
pub(super) fn against_groups(source: &ChartSource) -> Drawn {
    let row = source.run.row(PROBE);
    let points = row.and_then(|row| match &row.outcome {
        Outcome::Map { points, .. } => Some((row, points)),
        _ => None,
    });
    let Some((row, points)) = points else {
        return Err(why_not(source.run, &[PROBE]));
    };
    let figure = |point: &model::run::MapPoint| {
        Some((PlottedFigure::first(&point.estimate, &row.unit)?, point.estimate.verdict))
    };
    let mut pairs: Vec<_> = points.iter().filter_map(figure).collect();
    pairs.sort_by(|a, b| a.0.value.total_cmp(&b.0.value));
    let count = pairs.len() as f64;
    let own = match pairs.as_slice() {
        [] => return Err("no pair was measured that could be drawn".into()),
        // Of which group it is, a share would not say.
        [(only, verdict)] => [0.0, 100.0].map(|x| only.as_point(x, Some(*verdict))).into(),
        several => {
            let place = |at: usize| (at as f64 + 0.5) / count * 100.0;
            let point = |(at, (figure, verdict)): (usize, &(PlottedFigure, _))| {
                figure.as_point(place(at), Some(*verdict))
            };
            several.iter().enumerate().map(point).collect()
        }
    };
    let mut series = vec![joined("this machine", CurveKind::Measured, own)];
    for table in &source.references.tables {
        let groups = table.rows.iter().map(|row| &row.pair_groups).filter(|of| !of.is_empty());
        series.extend(groups.map(|groups| steps(&table.title, groups)));
    }
    let only = (pairs.len() == 1).then(|| {
        "This machine has one pair: compare it with the group of such pairs (siblings, one cluster, one socket)."
            .to_owned()
    });
    let mut notes: Vec<String> = row.notes.clone();
    notes.extend(only);
    notes.extend(hollow(points.iter().map(|point| point.estimate.verdict)));
    Ok(Picture {
        chart: Chart {
            id: PROBE.into(),
            title: "From core to core, by group of pairs".into(),
            caption:
                "Time one way to hand a cache line from one CPU to another, the fastest pairs \
                      first. Steps: medians of the published groups of pairs (SMT siblings, one \
                      cluster, one socket, across sockets), the same operation."
                    .into(),
            section: Section::Threads,
            body: Body::Lines(Lines::new(
                linear("share of the pairs, the fastest first", Quantity::Percent),
                log("time one way", Quantity::Nanoseconds),
                series,
            )),
            notes,
        },
        rows: vec![PROBE.into()],
    })
}

/// A step for each group: its share wide, at its median.
fn steps(name: &str, groups: &[[f64; 2]]) -> ChartLine {
    let mut from = 0.0;
    let mut points = Vec::new();
    for &[share, median] in groups {
        let to = from + share * 100.0;
        points.extend([from, to].map(|x| Point::bare(x, median)));
        from = to;
    }
    joined(name, CurveKind::Reference, points)
}
