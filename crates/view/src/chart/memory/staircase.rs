//! The staircase of latency for a small place: one curve, its levels, and the
//! published levels of phones.

use super::super::source::Picture;
use super::super::{Band, Body, Chart, Kind, Line, Point};
use compare::references::{Reference, References};
use model::story::levels::LATENCY;

/// The published levels: their rows, and the level of ours that each is drawn
/// on; the last stands at its working set.
const LEVELS: [(&str, &str); 3] = [
    ("memory.latency_as_kurkin/L1", "L1"),
    ("memory.latency_as_kurkin/L2", "L2"),
    ("memory.latency_as_kurkin/64MiB", ""),
];
/// What titles of phones begin with.
const PHONE: &str = "iPhone";
/// The working set of the last level, bytes.
const LARGEST: f64 = 67_108_864.0;

/// The picture, from the large one; nothing where that is not drawn.
pub(crate) fn staircase(pictures: &[Picture], references: &References) -> Option<Chart> {
    let large = pictures
        .iter()
        .find(|picture| picture.chart.id == LATENCY)?;
    let mut chart = large.chart.clone();
    let Body::Lines(lines) = &mut chart.body else {
        return None;
    };
    lines.series.truncate(1);
    lines.series.first_mut()?.name = "this machine".into();
    lines.marks.clear();
    let tables = references.tables.iter();
    let phones = tables.filter_map(|table| phone(table, &lines.bands));
    lines.series.extend(phones);
    chart.notes.clear();
    chart.title = "Memory, by how much is touched".into();
    chart.caption = match lines.series.len() {
        1 => "A load that waits for the one before.".into(),
        _ => "A load that waits for the one before. Phones: published levels, another page on \
              every load."
            .into(),
    };
    Some(chart)
}

/// The levels of a phone, in the middle of ours.
fn phone(table: &Reference, bands: &[Band]) -> Option<Line> {
    let place = |level: &str| {
        let band = bands.iter().find(|band| band.name == level);
        band.map(|band| (band.from * band.to).sqrt())
    };
    let point = |&(row, level): &(&str, &str)| {
        let x = if level.is_empty() {
            Some(LARGEST)
        } else {
            place(level)
        };
        Some(Point {
            x: x?,
            y: table.row(row)?.ns?,
            low: None,
            high: None,
            verdict: None,
        })
    };
    let points: Vec<Point> = LEVELS.iter().filter_map(point).collect();
    let is_phone = table.title.starts_with(PHONE) && !points.is_empty();
    is_phone.then(|| Line {
        name: table.title.clone(),
        is: Kind::Reference,
        points,
        joined: true,
    })
}
