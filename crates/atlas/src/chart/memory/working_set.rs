//! Curves over the working set, with the caches that the system tells of.

use super::super::curves::{Curves, own_unit};
use super::super::figure::log;
use super::super::source::{Drawn, Source};
use super::super::{Axis, Body, Quantity, Section};
use super::latency::caches;
use model::run;

/// These rows, each with its name in the legend, in their own unit.
pub(super) fn over_working_set(
    source: &Source,
    id: &str,
    title: &str,
    caption: &str,
    y: Axis,
    rows: Vec<(String, String)>,
) -> Drawn {
    let curves = Curves {
        id,
        title,
        caption,
        section: Section::Memory,
        over: run::Axis::WorkingSetBytes,
        x: log("working set", Quantity::Bytes),
        y,
        rows,
        unit: own_unit,
    };
    let mut picture = curves.draw(source)?;
    if let Body::Lines(lines) = &mut picture.chart.body {
        caches(source.run, lines, &mut picture.chart.notes);
    }
    Ok(picture)
}
