//! Bands of many machines behind the curves.

use super::pen::Pen;
use crate::axis::Scale;
use crate::chart::{ChartLine, CurveKind, Lines, Point};

/// How the median is drawn.
pub(super) const MEDIAN: &str = r#" stroke-width="1" stroke-dasharray="1 2""#;

/// What lies behind a band is seen through it.
pub(super) const PALE: &str = r#" fill-opacity="0.28""#;

/// Every band of a picture, each with its median.
pub(super) fn bands(pen: &mut Pen, lines: &Lines, (x, y): (&Scale, &Scale)) {
    for (at, line) in lines.series.iter().enumerate() {
        if line.is == CurveKind::Population {
            pen.series(at, |pen| {
                pen.group(format_args!(r#"class="move""#), |pen| {
                    band(pen, line, (x, y));
                });
            });
        }
    }
}

fn band(pen: &mut Pen, line: &ChartLine, (x, y): (&Scale, &Scale)) {
    let soft = pen.theme.soft();
    let corner = |point: &Point, end: Option<f64>| {
        Some((x.position(point.x)?, y.at_most(end.unwrap_or(point.y))))
    };
    let below = line.points.iter().filter_map(|point| corner(point, point.low));
    let above = line.points.iter().rev().filter_map(|point| corner(point, point.high));
    let outline: Vec<(f64, f64)> = below.chain(above).collect();
    // No mark: where the band is pointed at, the curve's own points answer.
    pen.area(&outline, soft, PALE);
    let medians = line.points.iter().filter_map(|point| corner(point, Some(point.y)));
    pen.polyline(&medians.collect::<Vec<_>>(), soft, MEDIAN);
}
