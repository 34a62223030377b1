//! The published levels of phones beside ours.

use super::super::figure::joined;
use super::super::source::{Picture, Source};
use super::super::{Band, Body, Kind, Line, Point};
use compare::references::Reference;

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

/// Draws the phones there are tables of.
pub(super) fn phones(source: &Source, picture: &mut Picture) {
    if let Body::Lines(lines) = &mut picture.chart.body {
        let tables = source.references.tables.iter();
        let phones = tables.filter_map(|table| phone(table, &lines.bands));
        lines.series.extend(phones.collect::<Vec<_>>());
    }
}

/// Whether a curve is of a phone.
pub(super) fn is_phone(line: &Line) -> bool {
    line.is == Kind::Reference && line.name.starts_with(PHONE)
}

/// The levels of a phone, in the middle of ours.
fn phone(table: &Reference, bands: &[Band]) -> Option<Line> {
    let place = |level: &str| {
        let band = bands.iter().find(|band| band.name == level);
        band.map(|band| (band.from * band.to).sqrt())
    };
    let point = |&(row, level): &(&str, &str)| {
        let x = if level.is_empty() { Some(LARGEST) } else { place(level) };
        Some(Point::bare(x?, table.row(row)?.ns?))
    };
    let points: Vec<Point> = LEVELS.iter().filter_map(point).collect();
    let line = joined(table.title.clone(), Kind::Reference, points);
    Some(line).filter(|line| is_phone(line) && !line.points.is_empty())
}
