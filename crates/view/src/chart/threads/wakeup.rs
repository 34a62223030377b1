//! How long a woken thread waits: the distribution on the idle machine beside
//! the loaded one.

use super::super::bins::{BINS, cell, middle};
use super::super::figure::{joined, linear, log};
use super::super::source::{Drawn, Picture, Source, why_not};
use super::super::{Body, Chart, Kind, Lines, Mark, Point, Quantity, Section};
use model::figure::time;
use model::story::histogram::{Bins, values};
use model::story::tail;
use model::story::wakeup::ROWS;

/// The picture: how many operations fell into each bin.
pub(super) fn wakeup(source: &Source) -> Drawn {
    let mut notes = Vec::new();
    let mut marks = Vec::new();
    let mut known = Vec::new();
    for id in ROWS {
        let Some(cell) = cell(source.run, id) else {
            continue;
        };
        let name = id.rsplit('/').next().unwrap_or(id);
        match values(cell, source.run.clock.ns_per_tick) {
            Err(why) => notes.push(format!("{id} is not drawn: {why}.")),
            Ok(ns) if ns.is_empty() => {}
            Ok(ns) => known.push((id, name, ns)),
        }
        let Some(estimate) = source.run.row(id).and_then(|row| row.estimate()) else {
            continue;
        };
        if let Some(ns) = estimate.ns().filter(|ns| ns.value > 0.0) {
            marks.push(Mark {
                name: format!("{name} p50 {}", time(ns.value)),
                x: ns.value,
            });
        }
        if let Some(tail) = &estimate.tail {
            notes.push(format!("{name}: {}.", tail::text(tail)));
        }
    }
    let all = known.iter().flat_map(|(_, _, ns)| ns.iter().copied());
    let Some(bins) = Bins::over(all, BINS) else {
        return Err(why_not(source.run, &ROWS));
    };
    let mut series = Vec::new();
    for (_, name, ns) in &known {
        let counts = bins.count(ns);
        if counts.not_above_zero > 0 {
            notes.push(format!(
                "{name}: {} operations took 0 or less, for which a logarithmic axis has no place.",
                counts.not_above_zero
            ));
        }
        let points = counts
            .bins
            .iter()
            .enumerate()
            .map(|(bin, &n)| Point::bare(middle(&bins, bin), n as f64));
        series.push(joined(*name, Kind::Measured, points.collect()));
    }
    Ok(Picture {
        chart: Chart {
            id: "sched.wakeup".into(),
            title: "From a wake to running".into(),
            caption: "How many wake-ups took how long, in bins of equal factors: on the idle \
                      machine, and with every CPU busy."
                .into(),
            section: Section::Threads,
            body: Body::Lines(Lines {
                x: log("from the wake to running", Quantity::Nanoseconds),
                y: linear("operations in a bin", Quantity::Count),
                series,
                bands: Vec::new(),
                marks,
            }),
            notes,
        },
        rows: known.iter().map(|(id, _, _)| (*id).into()).collect(),
    })
}
