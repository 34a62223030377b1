//! More threads than CPUs: what an operation takes beside the ideal, and every
//! single one.

use super::super::curves::{CURVES, Curves, doubts};
use super::super::decimate::extremes;
use super::super::figure::{PlottedFigure, joined, log};
use super::super::source::{ChartSource, Drawn, Picture, why_not};
use super::super::{Body, Chart, ChartLine, CurveKind, Lines, Point, Quantity, Section};
use model::run::{self, Run};
use model::story::histogram::values;
use model::story::pool::{PROBE, PoolCost};
use model::unit::Unit;

const SINGLE: &str = "sched.pool/single";
/// Points of one number of threads: each is a shape that a browser has to draw.
const MOST: usize = 62;

/// Time an operation, and the ideal.
pub(super) const CURVE: Curves = Curves {
    id: PROBE,
    title: "A pool with more threads than CPUs",
    caption: "Time of the whole divided by its operations, over the number of threads, with \
              the ideal: the procedure alone over the number of threads or of CPUs, whichever \
              is less.",
    section: Section::Threads,
    over: run::Axis::Threads,
    x: ("threads", Quantity::Count),
    y: ("time an operation", Quantity::Nanoseconds),
    rows: &[(PROBE, "measured"), ("sched.pool/ideal", "ideal")],
    finish: ideal,
    ..CURVES
};

fn ideal(source: &ChartSource, picture: &mut Picture) {
    if let Body::Lines(lines) = &mut picture.chart.body {
        for line in lines.series.iter_mut().filter(|line| line.name == "ideal") {
            line.is = CurveKind::Ideal;
        }
    }
    let verdict = PoolCost::from_run(source.run).to_string();
    picture.chart.notes.insert(0, verdict);
}

/// Every single operation by the number of threads, with the medians.
pub(super) fn singles(source: &ChartSource) -> Drawn {
    let points =
        source.run.row(SINGLE).and_then(|row| super::super::figure::curve(row, run::Axis::Threads));
    let Some(points) = points else {
        return Err(why_not(source.run, &[SINGLE]));
    };
    let mut notes = Vec::new();
    let median: Vec<Point> = points
        .iter()
        .filter_map(|p| {
            let figure = PlottedFigure::first(&p.estimate, &Unit::Time)?;
            Some(figure.as_point(p.x as f64, Some(p.estimate.verdict)))
        })
        .collect();
    let mut series = Vec::new();
    let operations = operations(source.run, points.iter().map(|p| p.x), &mut notes);
    if !operations.is_empty() {
        series.push(ChartLine {
            name: "single operations".into(),
            is: CurveKind::Measured,
            points: operations,
            joined: false,
        });
    }
    if !median.is_empty() {
        series.push(joined("median", CurveKind::Measured, median));
    }
    if series.is_empty() {
        return Err("no single operation was recorded".into());
    }
    notes.extend(doubts(&series));
    Ok(Picture {
        chart: Chart {
            id: "sched.pool.single".into(),
            title: "Single operations of the pool".into(),
            caption: "Every single operation from its call to its end, by the number of threads: \
                      the more threads share a CPU, the longer some of them wait."
                .into(),
            section: Section::Threads,
            body: Body::Lines(Lines::new(
                log("threads", Quantity::Count),
                log("time of a single operation", Quantity::Nanoseconds),
                series,
            )),
            notes,
        },
        rows: vec![SINGLE.into()],
    })
}

/// The operations in the order in which they were recorded, at most [`MOST`]
/// of each number of threads, the longest and the shortest among them.
fn operations(
    run: &Run,
    threads: impl Iterator<Item = u64>,
    notes: &mut Vec<String>,
) -> Vec<Point> {
    let mut all = Vec::new();
    for number in threads {
        let cell = run.cell(SINGLE, &[number]);
        let ns = match cell.map(|cell| values(cell, run.clock.ns_per_tick)) {
            None => continue,
            Some(Err(why)) => {
                notes.push(format!("{number} threads are not drawn: {why}."));
                continue;
            }
            Some(Ok(ns)) => ns,
        };
        let drawn = extremes(&ns, MOST, |ns| *ns);
        if drawn.len() < ns.len() {
            notes.push(format!(
                "{number} threads: {} of {} operations are drawn, the longest and the shortest \
                 of each interval among them.",
                drawn.len(),
                ns.len()
            ));
        }
        all.extend(drawn.into_iter().filter(|&y| y > 0.0).map(|y| Point::bare(number as f64, y)));
    }
    all
}
