//! The naive loop over an array beside the chase: one shows the caches, the
//! other does not.

use super::super::figure::{PlottedFigure, curve, joined, log};
use super::super::published::unjoined;
use super::super::source::{ChartSource, Drawn, Picture, why_not};
use super::super::{Body, Chart, ChartLine, CurveKind, Lines, Point, Quantity, Section};
use super::caches::{caches, levels};
use model::run::{Axis, Run};
use model::story::levels::LATENCY;
use model::story::naive_loop::{Growth, ROWS, Size, VECTORISED, sizes};
use model::unit::Unit;

/// The published table that has the naive loop.
pub(crate) const NAIVE_LOOP: &str = "iphone-5s";

/// The picture: ns an element.
pub(super) fn naive_loop(source: &ChartSource) -> Drawn {
    let sizes = sizes(source.run);
    let Some(growth) = Growth::over(&sizes) else {
        return Err(why_not(source.run, &["memory.naive_xor/50kB"]));
    };
    let mut rows = Vec::new();
    let naive = sizes.iter().map(|size| row_id(size, "")).collect();
    let vectorised = sizes.iter().map(|size| row_id(size, VECTORISED)).collect();
    let mut series = Vec::new();
    for (name, ids) in [("naive loop", naive), ("vectorised loop", vectorised)] {
        let ids: Vec<String> = ids;
        let points = elements(source.run, &sizes, &ids);
        if !points.is_empty() {
            series.push(joined(name, CurveKind::Measured, points));
            rows.extend(ids);
        }
    }
    series.extend(chase(source.run));
    series.extend(published(source, &sizes));
    let lines = Lines::new(
        log("working set", Quantity::Bytes),
        log("time of an element", Quantity::Nanoseconds),
        series,
    );
    let mut picture = Picture {
        chart: Chart {
            id: "memory.naive_xor".into(),
            title: "Does a naive loop show the caches?".into(),
            caption: "Time of an element of a loop that XORs the bytes of an array one by one, \
                      and of one dependent load in a working set of that size. Only loads that \
                      wait for each other show what memory costs."
                .into(),
            section: Section::Memory,
            body: Body::Lines(lines),
            notes: vec![growth.to_string()],
        },
        rows,
    };
    levels(source, &mut picture, LATENCY);
    caches(source, &mut picture);
    Ok(picture)
}

fn row_id(size: &Size, ending: &str) -> String {
    format!("{ROWS}{}{ending}", size.name)
}

/// A repetition's time over its elements.
fn elements(run: &Run, sizes: &[Size], ids: &[String]) -> Vec<Point> {
    let points = sizes.iter().zip(ids).filter_map(|(size, id)| {
        let estimate = run.row(id)?.estimate()?;
        let element_ns = estimate.ns()?.scaled(1.0 / size.elements as f64);
        let figure = PlottedFigure::from_interval(&element_ns, &Unit::Time)?;
        Some(figure.as_point(size.elements as f64, Some(estimate.verdict)))
    });
    points.collect()
}

/// The curve of dependent loads.
fn chase(run: &Run) -> Option<ChartLine> {
    let points = curve(run.row(LATENCY)?, Axis::WorkingSetBytes)?;
    let points: Vec<Point> = points
        .iter()
        .filter_map(|p| {
            let figure = PlottedFigure::first(&p.estimate, &Unit::Time)?;
            Some(figure.as_point(p.x as f64, Some(p.estimate.verdict)))
        })
        .collect();
    (!points.is_empty()).then(|| joined("one dependent load", CurveKind::Measured, points))
}

/// What the iPhone study published of the naive loop.
fn published(source: &ChartSource, sizes: &[Size]) -> Option<ChartLine> {
    let table = source.references.find(NAIVE_LOOP)?;
    let points: Vec<Point> = sizes
        .iter()
        .filter_map(|size| {
            let id = row_id(size, "");
            let y = table.row(&id)?.ns_per_element?;
            Some(Point::bare(size.elements as f64, y))
        })
        .collect();
    let name = format!("naive loop, {}", table.title);
    (!points.is_empty()).then(|| unjoined(name, points))
}
